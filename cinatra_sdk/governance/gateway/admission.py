"""Admission: from an envelope, which anybody may have sent, to the context of a governed run.

    admit(envelope, host, ports)  ->  Admitted(run=RunContext(…), packs=(…), book=…)

The host says who asks (`HostWord`).  The envelope is checked against the host's word, and counts for
nothing beyond it.  A refused request compiles nothing and stores nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import field
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.governance.contracts.context_pack import (
    ContextPack,
    DecisionCatalog,
    EnvironmentDefaults,
)
from cinatra_sdk.governance.contracts.invocation import (
    STARTED_BY,
    VOUCHED,
    AgentIdentity,
    Attachment,
    IdentityClaim,
    InvokeAgent,
    Principal,
    RunBudget,
    RunContext,
    UserClaims,
    UserDelegation,
)
from cinatra_sdk.governance.contracts.record_format import ApprovalMode, hash_of, is_elided, rank
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.packs.pack_registry import (
    PackRegistry,
    Published,
    require_compatible,
    require_newest,
    require_pinned,
    require_tenant,
)
from cinatra_sdk.governance.packs.rulebook import ANY, Rulebook, make_rulebook
from cinatra_sdk.governance.run.budgets import limit_budget
from cinatra_sdk.governance.run.evidence import Evidence, resolve_evidence
from cinatra_sdk.governance.run.host_functions import ask_host
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# The catalogs of decisions of a run's packs: which intents a request may have.
#
#     require_intent(book, "support.refunds")    GovernanceRefused (INTENT_UNKNOWN): … did you mean "support.refund"?
#
# A rule that names an intent holds for that very intent.  So a request may have no other than those of the
# catalogs: one letter more, and the rule would not apply.  A pack without a catalog takes every intent, and
# has to say so (`"decision_layer": {"catalog": "none"}`).


_MOST_NAMED = 5


def require_intent(book: Rulebook, intent: str) -> None:
    """Raises: `GovernanceRefused`: INTENT_UNKNOWN; PACK_INVALID for a pack without a catalog that does
    not say so, and for a rule about an intent that no catalog has: nobody could tell when it holds.
    """
    _require_catalog(book)
    if book.decisions and intent not in book.intents:
        raise GovernanceRefused(
            "INTENT_UNKNOWN",
            f"no catalog has the intent '{intent[:100]}'",
            hint=did_you_mean(intent, book.intents)
            or f"the catalogs have: {', '.join(sorted(book.intents)[:_MOST_NAMED])}",
        )


def _require_catalog(book: Rulebook) -> None:
    full = [one for one in book.packs if isinstance(one, ContextPack)]
    silent = [one.ref for one in full if one.decision_layer.catalog is None]
    if not book.decisions and silent:
        raise GovernanceRefused(
            "PACK_INVALID",
            f"'{silent[0]}' has no catalog of decisions, and does not say so",
            hint="name its catalog beside it (decision-catalog.NAME@1.2.3), or write "
            '"decision_layer": {"catalog": "none"}',
        )
    for one in book.rules:
        named = one.rule.applies_to.intent
        if named not in (ANY, *book.intents):
            raise GovernanceRefused(
                "PACK_INVALID",
                f"rule '{one.rule.rule_id}' is about the intent '{named[:100]}', which no catalog has",
                hint=did_you_mean(named, book.intents)
                or "add a decision for the intent, or let the rule be about every one",
            )


MAX_PAYLOAD_BYTES: Final = 1_048_576
"""Of an envelope, where neither pack nor request says less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWord:
    """What the host itself knows about a request; it wins over the envelope."""

    tenant: str
    run_id: str = ""
    """Empty: one is minted."""
    safety_mode: ApprovalMode | None = None
    """None: as the packs say.  Never riskier than they allow."""
    budget: RunBudget | None = None
    """The most that the tenant allows when a run begins; later, see `budgets.follow_budget`."""
    governed: bool = True
    """Whether an identity claim is asked for."""
    user: UserClaims | None = None
    """The person for whom the run acts, with the role and the scopes that rules may read.  None: nobody,
    and a request that names one is refused.
    """
    agent: AgentIdentity | None = None
    """The agent that runs.  None: its claim says which, as far as the host vouches for that."""
    started_by: str = ""
    """Whoever started the run; empty where nobody is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request that may run."""

    envelope: InvokeAgent
    run: RunContext
    book: Rulebook
    attachments: tuple[Evidence, ...] = field(default=(), repr=False)


def read_envelope(given: JsonValue | str | InvokeAgent) -> InvokeAgent:
    """Raises: `GovernanceRefused` (INVALID_ENVELOPE)."""
    if isinstance(given, InvokeAgent):
        return given
    return InvokeAgent.read_json_text(given) if isinstance(given, str) else InvokeAgent.read(given)


def admit(
    given: JsonValue | str | InvokeAgent,
    host: HostWord,
    registry: PackRegistry,
    ports: GovernancePorts | None = None,
    *,
    begun: bool = False,
    pack_refs: tuple[str, ...] = (),
) -> Admitted:
    """begun: whether the run was admitted before, so that nothing is asked of its intent any more.
    pack_refs: the packs that the host sets, all of which hold; empty: the request names the newest ones.

    Raises: `GovernanceRefused` for the first rule that is broken, in the order below.
    """
    doors = GovernancePorts() if ports is None else ports
    envelope = read_envelope(_fill_packs(given, pack_refs))
    for index, ref in enumerate(envelope.context_pack_refs):
        require_pinned(ref, f"context_pack_refs/{index}")
    envelope = _set_packs(envelope, pack_refs)
    _require_size(envelope, MAX_PAYLOAD_BYTES)
    _require_one_tenant(envelope, host)
    packs = load_packs(envelope.context_pack_refs, registry, host.tenant)
    if not pack_refs:
        require_newest(envelope.context_pack_refs, registry, host.tenant)
    book = make_rulebook(packs)
    if not begun:
        require_intent(book, envelope.input.intent)
    said = [one.max_payload_bytes for one in list_defaults(packs)]
    said.append(envelope.runtime.max_payload_bytes)
    _require_size(envelope, min([MAX_PAYLOAD_BYTES, *(one for one in said if one is not None)]))
    if envelope.mode == "long_running" and not envelope.session_id:
        raise GovernanceRefused(
            "SESSION_REQUIRED", "mode is long_running, and session_id is missing"
        )
    run_id = host.run_id or _claimed_run(envelope) or f"run_{uuid.uuid4().hex[:16]}"
    run = _make_run(envelope, host, run_id, book, doors)
    attachments = _admit_attachments(envelope.attachments, run, doors)
    return Admitted(envelope=envelope, run=run, book=book, attachments=attachments)


def _fill_packs(
    given: JsonValue | str | InvokeAgent, pack_refs: tuple[str, ...]
) -> JsonValue | str | InvokeAgent:
    """A request that names no packs gets those that the host sets."""
    if not pack_refs or not isinstance(given, dict) or given.get("context_pack_refs"):
        return given
    return {**given, "context_pack_refs": list(pack_refs)}


def _set_packs(envelope: InvokeAgent, pack_refs: tuple[str, ...]) -> InvokeAgent:
    """The envelope under every pack that the host sets: whoever names some of them leaves none out.

    Raises: `GovernanceRefused` (PACK_UNVOUCHED) for a pack that is none of these.
    """
    if not pack_refs:
        return envelope
    for index, ref in enumerate(pack_refs):
        require_pinned(ref, f"the host's pack_refs/{index}")
    for index, ref in enumerate(envelope.context_pack_refs):
        if ref not in pack_refs:
            raise GovernanceRefused(
                "PACK_UNVOUCHED",
                f"context_pack_refs/{index}: '{ref[:120]}' is none of the packs that the host sets",
                hint=f"leave context_pack_refs out, or name {', '.join(pack_refs[:_MOST_NAMED])}",
            )
    return envelope.model_copy(update={"context_pack_refs": tuple(pack_refs)})


def describe_admitted(admitted: Admitted, word: HostWord, at: str) -> dict[str, Any]:
    """What is kept of it with the run.  at: the moment, in ISO 8601."""
    return {
        "envelope": admitted.envelope.to_json(),
        "run": admitted.run.to_json(),
        "book": admitted.book.sha256,
        "attachments": [{"ref": one.ref, "sha256": one.sha256} for one in admitted.attachments],
        "host_budget": None if word.budget is None else word.budget.to_json(),
        "at": at,
    }


def _make_run(
    envelope: InvokeAgent, host: HostWord, run_id: str, book: Rulebook, ports: GovernancePorts
) -> RunContext:
    defaults = list_defaults(book.packs)
    return RunContext(
        run_id=run_id,
        trace_id=envelope.trace.trace_id,
        session_id=envelope.session_id or f"sess_{run_id}",
        tenant_id=host.tenant,
        user=admit_user(envelope.user, host, ports),
        agent=_admit_agent(envelope, host, run_id, ports),
        intent=envelope.input.intent,
        locale=envelope.input.locale,
        safety_mode=min([book.safety_mode, host.safety_mode or book.safety_mode], key=rank),
        run_budget=limit_budget(envelope, defaults, host.budget),
        metadata={
            "ephemeral": envelope.session_id is None,
            "request_id": envelope.request_id,
            STARTED_BY: host.started_by,
            VOUCHED: _name_voucher(envelope, host, ports),
        },
    )


def list_defaults(packs: Iterable[Published]) -> list[EnvironmentDefaults]:
    """What each pack gives to a run, and at most."""
    return [one.pack_meta.environment_defaults for one in packs if isinstance(one, ContextPack)]


def load_packs(refs: Iterable[str], registry: PackRegistry, tenant: str) -> tuple[Published, ...]:
    """The packs and catalogs, in the order of their references, each once, fit for each other."""
    packs = tuple(_load_pack(registry, ref, tenant) for ref in dict.fromkeys(refs))
    for one in packs:
        require_tenant(one, tenant)  # whatever the registry is
    require_compatible(packs)
    return packs


def _load_pack(registry: PackRegistry, ref: str, tenant: str) -> Published:
    made: Published = ask_host(
        "registry", lambda: registry.load(ref, tenant=tenant), ContextPack, DecisionCatalog
    )
    return made


def _require_size(envelope: InvokeAgent, most: int) -> None:
    size = len(json.dumps(envelope.to_json(), ensure_ascii=False).encode())
    if size > most:
        raise GovernanceRefused(
            "PAYLOAD_TOO_LARGE",
            f"the envelope has {size} bytes; {most} are allowed",
            hint="send large parts as attachments, by reference",
        )


def _require_one_tenant(envelope: InvokeAgent, host: HostWord) -> None:
    named: list[tuple[str, Any]] = [("tenant_id", envelope.tenant_id)]
    named.append(("user.tenant_id", envelope.user.tenant_id))
    named.append(("the host's user", host.user.tenant_id if host.user else None))
    named += _list_tenants("agent", envelope.agent)
    if host.agent is not None:
        named += _list_tenants("the host's agent", host.agent)
    for place, tenant in named:
        if tenant is not None and tenant != host.tenant:
            raise GovernanceRefused("TENANT_MISMATCH", f"{place} is not the tenant of whoever asks")


def _list_tenants(place: str, agent: AgentIdentity) -> list[tuple[str, Any]]:
    """Every tenant that an agent and its claim name, each with its place."""
    claim = agent.identity_claim
    named = [(f"{place}.principal_chain", one.tenant_id) for one in agent.principal_chain or ()]
    if claim is not None:
        chain = f"{place}.identity_claim.principal_chain"
        named += [(chain, one.tenant_id) for one in claim.principal_chain or ()]
        named.append((f"{place}.identity_claim.tenant_id", claim.tenant_id))
    return named


def _claimed_run(envelope: InvokeAgent) -> str:
    claim = envelope.agent.identity_claim
    return claim.run_id if claim is not None else ""


def _name_voucher(envelope: InvokeAgent, host: HostWord, ports: GovernancePorts) -> str:
    """Who vouches for the agent: the host by its word, by a claim, or nobody."""
    if host.agent is not None:
        return "host"
    signed = envelope.agent.identity_claim is not None and ports.claim_holds is not None
    return "claim" if signed or ports.claim_for is not None else ""


def _admit_agent(
    envelope: InvokeAgent, host: HostWord, run_id: str, ports: GovernancePorts
) -> AgentIdentity:
    """The agent as the host vouches for it: what only the envelope says of it gives it no right."""
    asked, urn = envelope.agent, _require_agent(envelope.agent, host)
    claim, vouched = _choose_claim(asked, host, run_id, urn, ports)
    if claim is None and host.governed:
        raise GovernanceRefused("IDENTITY_INVALID", "agent.identity_claim is missing")
    if claim is not None:
        require_claim(claim, urn=urn, run_id=run_id, ports=ports)
        _require_chain(claim.principal_chain, urn)
    if claim is not None and not vouched:
        claim = claim.model_copy(update={"scopes": (), "principal_chain": None})
    own = Principal(kind="agent", id=urn, tenant_id=host.tenant)
    user = Principal(kind="user", id=envelope.user.user_id, tenant_id=host.tenant)
    known = host.agent
    chain = (claim.principal_chain if claim else None) or (known.principal_chain if known else None)
    # A token that the caller names is the caller's word: only the host names tokens.
    told = {"principal_chain": chain or (user, own), "token_ref": None, "identity_claim": claim}
    if known is not None:
        return known.model_copy(update={**told, "agent_urn": urn})
    return asked.model_copy(update={**told, "role": None})


def _require_agent(asked: AgentIdentity, host: HostWord) -> str:
    """The agent's name.  Raises: `GovernanceRefused` (IDENTITY_INVALID)."""
    if host.agent is not None:
        _require_hosts_agent(host.agent)
    urn, problem = asked.agent_urn, ""
    if urn is None:
        problem = "agent.agent_urn is missing"
    elif asked.lifecycle not in (None, "active"):
        problem = f"the agent is {asked.lifecycle}"
    elif host.agent is not None and _name_agent(host.agent) != urn:
        problem = "the agent is not the one that the host names"
    if problem or urn is None:
        raise GovernanceRefused("IDENTITY_INVALID", problem)
    _require_chain(asked.principal_chain, urn)
    return urn


def _name_agent(known: AgentIdentity) -> str | None:
    """The name by which the host knows its agent: its own, or that of the claim beside it."""
    claim = known.identity_claim
    return known.agent_urn or (claim.sub if claim is not None else None)


def _require_hosts_agent(known: AgentIdentity) -> None:
    """The host's agent has a name, so that no request gives it one, and may run.

    Raises: `GovernanceRefused` (IDENTITY_INVALID).
    """
    urn = _name_agent(known)
    if urn is None:
        raise GovernanceRefused(
            "IDENTITY_INVALID",
            f"the host's agent '{known.agent_id[:100]}' has no agent_urn",
            hint="give it one: AgentIdentity(agent_urn='agent:OWNER/NAME@1.2.3', …)",
        )
    if known.lifecycle not in (None, "active"):
        raise GovernanceRefused("IDENTITY_INVALID", f"the host's agent is {known.lifecycle}")
    _require_chain(known.principal_chain, urn)


def _choose_claim(
    asked: AgentIdentity, host: HostWord, run_id: str, urn: str, ports: GovernancePorts
) -> tuple[IdentityClaim | None, bool]:
    """The claim of the run, and whether the host vouches for what it says."""
    if host.agent is not None and host.agent.identity_claim is not None:
        return host.agent.identity_claim, True
    if asked.identity_claim is not None and ports.claim_holds is not None:
        return asked.identity_claim, True
    if ports.claim_for is not None:
        made = ports.make_claim(run_id, host.tenant, urn)
        if made is None:
            raise GovernanceRefused(
                "IDENTITY_INVALID",
                f"the host does not know the agent '{urn[:100]}'",
                hint="name the agent: Governance(agent=…), or let claim_for give a claim for it",
            )
        return made, True
    return asked.identity_claim, False


def _require_chain(chain: tuple[Principal, ...] | None, urn: str) -> None:
    if chain and chain[-1].id != urn:
        raise GovernanceRefused(
            "IDENTITY_INVALID", "the chain of principals does not end at the agent"
        )


def require_claim(claim: IdentityClaim, *, urn: str, run_id: str, ports: GovernancePorts) -> None:
    """Raises: `GovernanceRefused` (IDENTITY_INVALID)."""
    now = ports.read_time().timestamp()
    problem = ""
    if claim.sub != urn:
        problem = "its subject is another agent"
    elif claim.run_id != run_id:
        problem = "it is for another run"
    elif claim.nbf is not None and now < claim.nbf:
        problem = "it does not hold yet"
    elif claim.exp is not None and now >= claim.exp:
        problem = "it does not hold any more"
    elif is_elided(claim.claim_hash):
        problem = "its hash is elided"
    elif not ports.holds_claim(claim):
        problem = "its signature does not hold"
    if problem:
        raise GovernanceRefused("IDENTITY_INVALID", f"agent.identity_claim: {problem}")


def make_claim(run_id: str, tenant: str, urn: str, scopes: tuple[str, ...] = ()) -> IdentityClaim:
    """The claim of a run that the host itself begins, where it signs none."""
    body = {"sub": urn, "run_id": run_id, "tenant_id": tenant, "scopes": list(scopes)}
    return IdentityClaim.read({**body, "claim_hash": hash_of(body)})


def admit_user(asked: UserClaims, host: HostWord, ports: GovernancePorts) -> UserClaims:
    """The person for whom the run acts, as the host vouches for them; asked: as the envelope has them.

    A delegation that the envelope brings holds where the host keeps a token for it (`delegation_for`).
    Raises: `GovernanceRefused` (USER_UNVOUCHED) for another person than the host names.
    """
    known = host.user
    if known is None or asked.user_id != known.user_id:
        who = f"vouches for '{known.user_id}'" if known else "names nobody who asks"
        raise GovernanceRefused(
            "USER_UNVOUCHED",
            f"the request is for user '{asked.user_id[:100]}', and the host {who}",
            hint="say who starts the run (by=…; started_by=… in a context), or Governance(user_for=…)",
        )
    brought = known.delegation or asked.delegation
    if brought is None:
        return known
    if ports.delegation_for is None and known.delegation is not None:
        return _without_token(known)
    held = admit_delegation(known.user_id, brought, ports)
    return known.model_copy(update={"delegation": held})


def follow_word(
    run: RunContext, asked: UserClaims, host: HostWord, ports: GovernancePorts
) -> RunContext:
    """A run that goes on, under what the host says of it now; asked: the user as the request had them.

    The safety mode only narrows.  A run of an earlier release keeps the user that it began with.
    Raises: `GovernanceRefused` (TENANT_MISMATCH, USER_UNVOUCHED; IDENTITY_INVALID where the host's agent
    may not run any more).
    """
    if host.tenant != run.tenant_id:
        raise GovernanceRefused("TENANT_MISMATCH", "the host names another tenant for the run now")
    changed: dict[str, Any] = {}
    known = host.agent
    if known is not None and known.lifecycle not in (None, "active"):
        raise GovernanceRefused("IDENTITY_INVALID", f"the host's agent is {known.lifecycle}")
    if known is not None and run.metadata.get(VOUCHED) == "host" and known.role != run.agent.role:
        changed["agent"] = run.agent.model_copy(update={"role": known.role})
    if STARTED_BY in run.metadata:
        changed["user"] = admit_user(asked, host, ports)
    elif host.started_by:
        changed["metadata"] = {**run.metadata, STARTED_BY: host.started_by}
    if host.safety_mode is not None:
        changed["safety_mode"] = min([run.safety_mode, host.safety_mode], key=rank)
    return run.model_copy(update=changed) if changed else run


def _without_token(known: UserClaims) -> UserClaims:
    assert known.delegation is not None
    delegation = known.delegation.model_copy(update={"token_ref": None})
    return known.model_copy(update={"delegation": delegation})


def admit_delegation(
    user_id: str, delegation: UserDelegation, ports: GovernancePorts
) -> UserDelegation:
    """The delegation as the host keeps it; without any scope where it keeps none."""
    held = ports.find_delegation(user_id, delegation)
    if isinstance(held, UserDelegation):
        return held
    scopes = delegation.scopes if held else ()
    return delegation.model_copy(update={"token_ref": held or None, "scopes": scopes})


def _admit_attachments(
    attachments: Iterable[Attachment], run: RunContext, ports: GovernancePorts
) -> tuple[Evidence, ...]:
    """The files as evidence; each is the tenant's, with the bytes that the envelope says."""
    refs = []
    for one in attachments:
        if is_elided(one.sha256):
            raise GovernanceRefused(
                "ATTACHMENT_FORBIDDEN", f"the hash of attachment '{one.artifact_id}' is elided"
            )
        refs.append(f"attachment:{one.artifact_id}#sha256:{one.sha256}")
    return tuple(resolve_evidence(refs, run, ports.evidence, {}))

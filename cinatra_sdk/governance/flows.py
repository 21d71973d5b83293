"""The rules of packs over a compiled flow: every effect of its nodes is a call through the gateway.

    compile_flow("agents/mail", governance=Governance.of(pack))

An effect is a call of the capability that is bound to it: the name of a tool, `POST https://…`,
`openai/gpt-5`, `server/tool` of an MCP server.  What nothing is bound to is not offered, so it is
rejected.  Conditions read the inputs of the node's flow as `context`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from cinatra_sdk.effects.asking import make_refusal
from cinatra_sdk.effects.effect import Effect, EffectResult, hash_json
from cinatra_sdk.effects.governing import GateNeeded
from cinatra_sdk.errors import EffectRefused, NotConfigured
from cinatra_sdk.governance.admission import Admitted, HostWord, admit, make_claim
from cinatra_sdk.governance.canonical import spell_integers
from cinatra_sdk.governance.contracts.identity import AgentIdentity, UserClaims
from cinatra_sdk.governance.current_call import CurrentCall, current_call
from cinatra_sdk.governance.delegating import confine
from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.facts import make_run_facts, replace_context
from cinatra_sdk.governance.gateway import Examined, GateApproval, Gateway
from cinatra_sdk.governance.proposed import GovernedCall
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.registry import require_pinned
from cinatra_sdk.governance.rulebook import ANY, DeclaredCapability, Rulebook
from cinatra_sdk.governance.tracing import (
    derive_span_id,
    derive_trace_id,
    list_trace_headers,
    make_trace_context,
)
from cinatra_sdk.governance.transcripts import describe_examined
from cinatra_sdk.governance.usage import RunUsage, Used

if TYPE_CHECKING:
    from cinatra_sdk.flow.frame import Frame
    from cinatra_sdk.governance.parts import GovernanceParts
    from cinatra_sdk.governance.recorders import FlowRecorder

_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": ("tool",),
    "http": ("http", "openapi"),
    "model": ("model",),
    "mcp": ("mcp",),
    "a2a": ("a2a", "agent"),
}
"""Types of adapters, by kind of effect."""
_SIMULATED: Final = "simulated/"
_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")
MOST_SESSIONS: Final = 1_000
"""Runs that one process remembers at once; an older one is read anew."""


@dataclass
class Session:
    """What one process knows of a governed run."""

    admitted: Admitted
    usage: RunUsage
    recorded: dict[str, Evidence] = field(default_factory=dict)
    """Results of calls, as evidence for the next: the oldest first."""
    caller: CurrentCall | None = field(default=None, repr=False)
    """The call in which the run was opened: it pays for the run, and the next call does not."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def run_facts(self) -> Mapping[str, Any]:
        """What conditions read of the run; each flow in it has its own context."""
        admitted = self.admitted
        envelope = admitted.envelope
        return make_run_facts(admitted.run, envelope.input, mode=envelope.mode)

    def keep(self, ref: str, evidence: Evidence) -> None:
        with self.lock:
            self.recorded[ref] = evidence

    def list_recorded(self) -> dict[str, Evidence]:
        with self.lock:
            return dict(self.recorded)


class PackRules:
    """Implements `cinatra_sdk.flow.ruled.FlowRules`; safe to share between threads and runs."""

    def __init__(self, governance: GovernanceParts, flow: str) -> None:
        if not governance.pack_refs:
            raise NotConfigured(
                f"the governed flow '{flow}' has no pack",
                hint="Governance(pack_refs=('id@1.2.3',))",
            )
        if isinstance(governance.pack_refs, str):
            raise NotConfigured(
                f"the packs of the governed flow '{flow}' are one text, not a tuple",
                hint=f"Governance(pack_refs=('{governance.pack_refs[:120]}',))",
            )
        if not callable(getattr(governance.registry, "load", None)):
            raise NotConfigured(
                f"the registry of the governed flow '{flow}' is a "
                f"{type(governance.registry).__name__}, which loads no packs",
                hint="Governance(registry=FolderRegistry('packs'))",
            )
        for ref in governance.pack_refs:
            require_pinned(ref)
        self.governance = governance
        self.flow = flow
        self._sessions: dict[tuple[str, str], Session] = {}
        self._lock = threading.Lock()

    def make_recorder(self) -> FlowRecorder:
        from cinatra_sdk.governance.recorders import FlowRecorder

        return FlowRecorder(self)

    @cached_property
    def slug(self) -> str:
        return _NO_SLUG.sub("-", self.flow.lower()).strip("-") or "flow"

    # ------------------------------------------------------------------ runs

    def open_session(
        self, run: Mapping[str, Any], inputs: Mapping[str, Any] | None = None
    ) -> Session:
        """What is known of a run; begun where this process knows nothing of it.

        run: `{"run_id", "tenant", "started_by"}`.  Raises: `GovernanceRefused`.
        """
        caller, name = current_call(), _name_run(run)
        with self._lock:
            known = self._sessions.get(name)
            if known is not None and _belongs_to(known, caller):
                # To the end: of too many, those that were idle longest are forgotten.
                self._sessions[name] = self._sessions.pop(name)
                return known
        return self._remember(run, _begin_session(self.admit_run(run, inputs or {}), Used()))

    def restore_session(
        self, run: Mapping[str, Any], admitted: Admitted, used: Used, recorded: Iterable[Evidence]
    ) -> Session:
        """As the stored records of a run have it: another process may have worked on it since."""
        made = _begin_session(admitted, used)
        made.recorded.update((one.ref, one) for one in recorded)
        with self._lock:
            self._sessions.pop(_name_run(run), None)
        return self._remember(run, made)

    def _remember(self, run: Mapping[str, Any], made: Session) -> Session:
        """The session of the run: that which another thread has begun meanwhile, if any."""
        name = _name_run(run)
        with self._lock:
            known = self._sessions.pop(name, None)
            if known is None or not _belongs_to(known, made.caller):
                known = made
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[name] = known
            return known

    def admit_run(self, run: Mapping[str, Any], inputs: Mapping[str, Any]) -> Admitted:
        """The run as a request: the flow is the agent, its inputs are the context.

        Raises: `GovernanceRefused`.
        """
        word = self._read_word(run)
        agent = self._name_agent(word)
        user = self._name_user(run)
        trace = derive_trace_id(word.tenant, word.run_id)
        envelope: dict[str, Any] = {
            "request_id": f"req_{word.run_id}",
            "session_id": f"sess_{word.run_id}",
            "tenant_id": word.tenant,
            "user": user.to_json(),
            "agent": agent.to_json(),
            "context_pack_refs": list(self.governance.pack_refs),
            "input": {
                "intent": self.governance.intent or self.slug,
                "message": "",
                "context": spell_integers(inputs),
            },
            "mode": "batch",
            "runtime": {},
            "trace": {"trace_id": trace, "span_id": derive_span_id(trace)},
        }
        admitted = admit(envelope, word, self.governance.registry, self.governance.ports)
        caller = current_call()
        if caller is None:
            return admitted
        return replace(admitted, run=confine(admitted.run, caller.run))

    def _read_word(self, run: Mapping[str, Any]) -> HostWord:
        word = self.governance.read_word(run)
        return word if word.run_id else replace(word, run_id="run")

    def _name_agent(self, word: HostWord) -> AgentIdentity:
        urn = f"agent:oasflow/{self.slug}@1.0.0"
        agent = self.governance.agent or AgentIdentity(
            agent_id=self.slug,
            agent_urn=urn,
            workload_identity=f"spiffe://oasflow/flows/{self.slug}",
        )
        if agent.identity_claim is not None or self.governance.ports.claim_for is not None:
            return agent
        claim = make_claim(word.run_id, word.tenant, agent.agent_urn or urn)
        return agent.model_copy(update={"identity_claim": claim})

    def _name_user(self, run: Mapping[str, Any]) -> UserClaims:
        if self.governance.user_for is not None:
            return self.governance.user_for(run)
        who = re.sub(r"\s+", "_", str(run.get("started_by") or "")) or "host"
        return UserClaims(user_id=who)

    # ------------------------------------------------------------------ nodes

    def make_governor(
        self,
        state: Mapping[str, Any],
        frame: Frame,
        passed: Sequence[Mapping[str, Any]],
        *,
        inputs: Mapping[str, Any],
    ) -> CallGovernor:
        session = self.open_session(state.get("run") or {}, inputs)
        admitted = session.admitted
        gateway = Gateway(
            admitted.book,
            admitted.run,
            replace_context(session.run_facts, inputs),
            ports=self.governance.ports,
            usage=session.usage,
        )
        approvals = [
            GateApproval(
                gate_id=str(one["gate"]),
                approver=str(one["by"]) or "somebody",
                snapshot_hash=str(one["snapshot_hash"]),
            )
            for one in passed
        ]
        return CallGovernor(gateway, session, approvals, frame.where)

    def describe_gate(self, state: Mapping[str, Any], gate: str) -> dict[str, JsonValue]:
        found = self.open_session(state.get("run") or {}).admitted.book.gates[gate]
        told: dict[str, JsonValue] = {}
        if found.description:
            told["about"] = found.description
        if found.required_approver_role:
            told["approver_role"] = found.required_approver_role
        return told

    def find_approver_problem(self, state: Mapping[str, Any], gate: str, person: str) -> str:
        session = self.open_session(state.get("run") or {})
        admitted = session.admitted
        gateway = Gateway(
            admitted.book, admitted.run, {}, ports=self.governance.ports, usage=session.usage
        )
        try:
            gateway.require_approver(gate, person)
        except GovernanceRefused as refused:
            return refused.message
        return ""


def _refuse(effect: Effect, refusal: GovernanceRefused) -> EffectRefused:
    return make_refusal(effect, refusal.message, code=refusal.code, hint=refusal.hint)


class CallGovernor:
    """The rules of one visit of a node; implements `cinatra_sdk.effects.governing.Governor`."""

    def __init__(
        self, gateway: Gateway, session: Session, approvals: Sequence[GateApproval], where: str
    ) -> None:
        self._gateway = gateway
        self._session = session
        self._approvals = approvals
        self._where = where
        self._flags = session.admitted.envelope.trace.trace_flags or "01"
        self._examined: dict[str, Examined] = {}

    def examine(self, effect: Effect) -> Effect:
        declared = find_capability(self._gateway.book, effect)
        name = declared.id if declared is not None else f"{effect.kind}.{_clean(effect.capability)}"
        call = GovernedCall(
            capability_id=name,
            args=_read_args(effect),
            tool_call_id=f"tc_{effect.key[:16]}",
            idempotency_key=effect.key[:200],
            mode_requested=declared.mode if declared is not None else "read_only",
            metadata={"node": effect.place or effect.path},
            frozen=effect.arguments,
        )
        examined = self._gateway.examine(call, self._session.list_recorded())
        self._examined[effect.key] = examined
        if examined.envelope is None or examined.decision is None:
            return effect
        simulated = effect.simulated or effect.capability.startswith(_SIMULATED)
        return replace(effect, governed=describe_examined(examined, simulated=simulated))

    def redeem(self, effect: Effect) -> None:
        examined = self._examined[effect.key]
        if examined.refusal is not None:
            raise _refuse(effect, examined.refusal)
        pending = examined.list_pending(self._approvals)
        if pending:
            assert examined.decision is not None  # without a refusal there is one
            raise GateNeeded(
                {
                    "gate": pending[0],
                    "snapshot_hash": examined.snapshot_hash,
                    "capability": examined.call.capability_id,
                    "arguments": self._gateway.redact(effect.arguments),
                    "mode": examined.decision.effective_approval_mode,
                    "evidence": [one.ref for one in examined.evidence],
                }
            )
        try:
            self._gateway.redeem(examined, self._approvals)
        except GovernanceRefused as refused:
            refusal = refused
        else:
            return
        raise _refuse(effect, refusal)

    def list_headers(self, effect: Effect) -> Mapping[str, str]:
        call = self._examined[effect.key].call
        gateway = self._gateway
        made = make_trace_context(
            gateway.run, call.tool_call_id, pack=gateway.book.primary.ref, flags=self._flags
        )
        return list_trace_headers(made)

    def keep(self, effect: Effect, result: EffectResult) -> None:
        examined = self._examined.get(effect.key)
        if examined is None or examined.envelope is None:
            return
        if result.status == "done":
            usage = result.usage
            self._session.usage.add(tokens=usage.input_tokens + usage.output_tokens)
        ref = f"tool:{examined.call.capability_id}:{examined.call.tool_call_id}"
        self._session.keep(ref, Evidence(ref, f"sha256:{hash_json(result.value)}"))


def _begin_session(admitted: Admitted, used: Used) -> Session:
    caller = current_call()
    within = None if caller is None else caller.allowance
    return Session(admitted, RunUsage(used, within=within), caller=caller)


def _belongs_to(session: Session, caller: CurrentCall | None) -> bool:
    """Whether the session goes on: a flow that is called again gets a part of what is left then."""
    return caller is None or session.caller is caller


def _name_run(run: Mapping[str, Any]) -> tuple[str, str]:
    return str(run.get("tenant", "")), str(run.get("run_id", ""))


def find_capability(book: Rulebook, effect: Effect) -> DeclaredCapability | None:
    """The capability that is bound to an effect; one that names it before one for all of its type.

    None also where several are bound alike: what one of them forbids, the other would allow.
    """
    types = _TYPES[effect.kind]
    for name in (effect.capability.removeprefix(_SIMULATED), ANY):
        found = [one for one in book.callable_by.get(name, ()) if one.adapter.type in types]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _read_args(effect: Effect) -> dict[str, Any]:
    """What rules read as `args`: of a request with an object as its body that, else everything."""
    given = effect.arguments
    if not isinstance(given, Mapping):
        return {"value": given}
    body = given.get("body")
    return dict(body) if effect.kind == "http" and isinstance(body, Mapping) else dict(given)


def _clean(capability: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.:/-]+", "_", capability)[:90] or "unnamed"

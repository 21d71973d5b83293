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
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.admission import Admitted, HostWord, admit, follow_word, make_claim
from cinatra_sdk.governance.budgets import narrow_budgets
from cinatra_sdk.governance.call_governor import HELD, CallGovernor, Session
from cinatra_sdk.governance.canonical import spell_integers
from cinatra_sdk.governance.contracts.identity import AgentIdentity, UserClaims
from cinatra_sdk.governance.contracts.run_context import STARTED_BY, RunContext
from cinatra_sdk.governance.current_call import CurrentCall, current_call
from cinatra_sdk.governance.delegating import confine
from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.facts import replace_context
from cinatra_sdk.governance.gateway import GateApproval, Gateway
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.registry import require_pinned
from cinatra_sdk.governance.requester import NOT_REQUESTER
from cinatra_sdk.governance.starter import name_starter
from cinatra_sdk.governance.tracing import derive_span_id, derive_trace_id
from cinatra_sdk.governance.usage import RunUsage, Used, Wanted

if TYPE_CHECKING:
    from cinatra_sdk.flow.frame import Frame
    from cinatra_sdk.governance.parts import GovernanceParts
    from cinatra_sdk.governance.recorders import FlowRecorder

_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")
MOST_SESSIONS: Final = 1_000
"""Runs that one process remembers at once; an older one is read anew."""


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
        self,
        run: Mapping[str, Any],
        admitted: Admitted,
        used: Used,
        recorded: Iterable[Evidence],
        held: Mapping[str, Wanted] | None = None,
    ) -> Session:
        """As the stored records of a run have it: another process may have worked on it since."""
        made = _begin_session(admitted, used, held)
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

    def admit_run(
        self, run: Mapping[str, Any], inputs: Mapping[str, Any], *, begun: bool = False
    ) -> Admitted:
        """The run as a request: the flow is the agent, its inputs are the context.

        begun: whether it was admitted before, by an earlier activation.
        Raises: `GovernanceRefused`.
        """
        word = self._read_word(run)
        assert word.agent is not None  # named by `_read_word`, as the user is
        assert word.user is not None
        agent, user = word.agent, word.user
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
        parts = self.governance
        admitted = admit(envelope, word, parts.registry, parts.ports, begun=begun)
        caller = current_call()
        if caller is None:
            return admitted
        return replace(admitted, run=confine(admitted.run, caller.run))

    def _read_word(self, run: Mapping[str, Any]) -> HostWord:
        word = self.governance.read_word(name_starter(run))
        known = word if word.run_id else replace(word, run_id="run")
        user = known.user or UserClaims(user_id="host")
        return replace(known, user=user, agent=self._name_agent(known))

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

    # ------------------------------------------------------------------ nodes

    def make_governor(
        self,
        state: Mapping[str, Any],
        frame: Frame,
        passed: Sequence[Mapping[str, Any]],
        *,
        inputs: Mapping[str, Any],
    ) -> CallGovernor:
        identity = state.get("run") or {}
        session = self.open_session(identity, inputs)
        run = self._follow(session, identity)
        gateway = Gateway(
            session.admitted.book,
            run,
            replace_context(session.list_facts(run), inputs),
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

    def _follow(self, session: Session, identity: Mapping[str, Any]) -> RunContext:
        """The run as the host's word is now.  Raises: `GovernanceRefused`.

        A flow inside of a call has what its parent has, which was asked at the parent's own step.
        """
        admitted, parts = session.admitted, self.governance
        said = parts.word_for or parts.user_for or parts.ports.delegation_for
        if session.caller is not None or said is None:
            return admitted.run
        starter = str(admitted.run.metadata.get(STARTED_BY) or "")
        known = identity if identity.get("started_by") else {**identity, "started_by": starter}
        word = self._read_word(known)
        followed = follow_word(admitted.run, admitted.envelope.user, word, parts.ports)
        if word.budget is None:
            return followed
        least = narrow_budgets([followed.run_budget, word.budget])
        return followed.model_copy(update={"run_budget": least})

    def describe_gate(self, state: Mapping[str, Any], gate: str) -> dict[str, JsonValue]:
        found = self.open_session(state.get("run") or {}).admitted.book.gates[gate]
        told: dict[str, JsonValue] = {}
        if found.description:
            told["about"] = found.description
        if found.required_approver_role:
            told["approver_role"] = found.required_approver_role
        if found.approver == NOT_REQUESTER:
            told["approver"] = NOT_REQUESTER
        return told

    def give_back(self, state: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
        held = asked.get(HELD)
        if isinstance(held, str):
            self.open_session(state.get("run") or {}).usage.give_back(held)

    def find_approver_problem(self, state: Mapping[str, Any], gate: str, person: str) -> str:
        identity = state.get("run") or {}
        session = self.open_session(identity)
        gateway = Gateway(
            session.admitted.book,
            self._follow(session, identity),
            {},
            ports=self.governance.ports,
            usage=session.usage,
        )
        try:
            gateway.require_approver(gate, person)
        except GovernanceRefused as refused:
            return refused.message
        return ""


def _begin_session(
    admitted: Admitted, used: Used, held: Mapping[str, Wanted] | None = None
) -> Session:
    caller = current_call()
    within = None if caller is None else caller.allowance
    return Session(admitted, RunUsage(used, within=within, held=held), caller=caller)


def _belongs_to(session: Session, caller: CurrentCall | None) -> bool:
    """Whether the session goes on: a flow that is called again gets a part of what is left then."""
    return caller is None or session.caller is caller


def _name_run(run: Mapping[str, Any]) -> tuple[str, str]:
    return str(run.get("tenant", "")), str(run.get("run_id", ""))

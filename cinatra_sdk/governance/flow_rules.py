"""A compiled flow under packs: every effect of its nodes is a call through the gateway.

    compile_flow("agents/mail", governance=Governance.of(pack))

An effect is a call of the capability that is bound to it: the name of a tool, `POST https://…`,
`openai/gpt-5`, `server/tool` of an MCP server.  An effect without a bound capability is rejected.
Conditions read the inputs of the node's flow as `context`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import JsonValue

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.call_governor import HELD, CallGovernor, Session
from cinatra_sdk.governance.contracts.invocation import (
    STARTED_BY,
    AgentIdentity,
    RunContext,
    UserClaims,
)
from cinatra_sdk.governance.contracts.record_format import spell_integers
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import (
    Admitted,
    HostWord,
    admit,
    describe_admitted,
    follow_word,
    load_packs,
    make_claim,
)
from cinatra_sdk.governance.gateway.context_compiler import compile_context, read_first_turn
from cinatra_sdk.governance.gateway.delegation import confine
from cinatra_sdk.governance.gateway.facts import replace_context
from cinatra_sdk.governance.gateway.gateway import GateApproval, Gateway
from cinatra_sdk.governance.loop.conclusion import tell_transcript
from cinatra_sdk.governance.loop.loop_state import REQUEST, name_starter
from cinatra_sdk.governance.packs.pack_policy import NOT_REQUESTER
from cinatra_sdk.governance.packs.pack_registry import require_pinned
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.governance.records.record_maker import format_time
from cinatra_sdk.governance.records.story import OPEN, begin_transcript
from cinatra_sdk.governance.run.budgets import RunUsage, Used, Wanted, narrow_budgets
from cinatra_sdk.governance.run.current_call import (
    CurrentCall,
    current_call,
    derive_span_id,
    derive_trace_id,
)
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from cinatra_sdk.flow.plan.frame import Frame
    from cinatra_sdk.governance.gateway.host_record import GovernanceParts


_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")
MOST_SESSIONS: Final = 1_000
"""Runs that one process remembers at once; an older one is read anew."""


class PackRules:
    """Implements `cinatra_sdk.flow.visit.governance_gate.FlowRules`; safe to share between threads and runs."""

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
        admitted = admit(
            envelope, word, parts.registry, parts.ports, begun=begun, pack_refs=parts.pack_refs
        )
        caller = current_call()
        if caller is None:
            return admitted
        return replace(admitted, run=confine(admitted.run, caller.run))

    def _read_word(self, run: Mapping[str, Any]) -> HostWord:
        word = self.governance.read_word(name_starter(run))
        known = word if word.run_id else replace(word, run_id="run")
        user = UserClaims(user_id="host") if known.user is None else known.user
        return replace(known, user=user, agent=self._name_agent(known))

    def _name_agent(self, word: HostWord) -> AgentIdentity:
        urn = f"agent:oasflow/{self.slug}@1.0.0"
        agent = self.governance.agent or AgentIdentity(
            agent_id=self.slug,
            agent_urn=urn,
            workload_identity=f"spiffe://oasflow/flows/{self.slug}",
        )
        if agent.agent_urn is None:
            # The host compiled the flow: where its agent has no name, the flow's own is the host's word.
            own = agent.identity_claim
            agent = agent.model_copy(update={"agent_urn": own.sub if own is not None else urn})
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


# ----------------------------------------------------------------------------
# A governed flow for its store: the beginning of a run, its continuation, its decision records.
#
# A store calls `begin` where a run is stored, `restore` before each activation, and `tell` at its end.


Run = Mapping[str, Any]
"""`{"run_id", "tenant", "started_by"}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a store knows at the end of an activation."""

    run: Run
    last: Mapping[str, Any] = field(repr=False)
    """The transcript of the record before."""
    values: Mapping[str, Any] = field(repr=False)
    """The state of the run's graph."""
    status: str
    """Of the run: `completed`, `waiting`, …"""
    outputs: Mapping[str, Any] | None = field(default=None, repr=False)
    branch: str | None = None


class RunRecorder(Protocol):
    """Of one governed flow; safe to share between threads and runs."""

    @property
    def governance(self) -> GovernanceParts: ...

    def begin(self, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
        """The transcript of a new run.  Raises: `GovernanceRefused`; then nothing is stored."""
        ...

    def restore(
        self, run: Run, last: Mapping[str, Any], recorded: Iterable[Evidence], made: Iterable[str]
    ) -> None:
        """Told before an activation: what the run has come to so far.

        Raises: `FlowChanged` where the packs are not those that it began with.

        recorded: results of its calls.  made: the capability of each call that the ledger has.
        """
        ...

    def working(self, run: Run) -> AbstractContextManager[None]:
        """Around the work of an activation, whose time counts."""
        ...

    def tell(self, told: Told) -> dict[str, Any]:
        """The transcript at the end of an activation, without the calls that only the ledger knows."""
        ...


def _begin(
    kind: str, admitted: Admitted, word: HostWord, governance: GovernanceParts
) -> dict[str, Any]:
    # The nodes of a flow begin with a first turn by their own metadata.
    told = read_first_turn(admitted, governance.ports) if kind == "loop" else ()
    compiled = compile_context(admitted, governance.ports, told=told)
    at = format_time(governance.ports.read_time())
    return begin_transcript(kind, describe_admitted(admitted, word, at), compiled, admitted.book)


class LoopRecorder:
    """Of the canonical loop, which keeps its story in its own state."""

    def __init__(self, governance: GovernanceParts) -> None:
        self.governance = governance

    def begin(self, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
        word = self.governance.read_word(run)
        parts = self.governance
        admitted = admit(
            params[REQUEST], word, parts.registry, parts.ports, pack_refs=parts.pack_refs
        )
        return _begin("loop", admitted, word, self.governance)

    def restore(
        self, run: Run, last: Mapping[str, Any], recorded: Iterable[Evidence], made: Iterable[str]
    ) -> None:
        """Nothing: the state of the graph has it."""

    def working(self, _run: Run) -> AbstractContextManager[None]:
        return nullcontext()

    def tell(self, told: Told) -> dict[str, Any]:
        values = told.values
        if "loop" not in values or "compiled" not in values:
            return {**told.last, "status": OPEN}
        # Not admitted anew: a claim may be over by now, and what was done has its record all the same.
        refs = values["admitted"]["envelope"]["context_pack_refs"]
        tenant = self.governance.read_word(told.run).tenant
        book = make_rulebook(load_packs(refs, self.governance.registry, tenant))
        return tell_transcript(values, values["loop"]["used"], book)


class FlowRecorder:
    """Of a compiled flow: its inputs, its calls, its outputs."""

    def __init__(self, rules: PackRules) -> None:
        self.rules = rules
        self.governance = rules.governance

    def begin(self, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
        admitted = self.rules.admit_run(run, params)
        made = _begin("flow", admitted, self.governance.read_word(run), self.governance)
        self.rules.restore_session(run, admitted, Used(**made["used"]), ())
        return made

    def restore(
        self, run: Run, last: Mapping[str, Any], recorded: Iterable[Evidence], made: Iterable[str]
    ) -> None:
        params = last["admitted"]["envelope"]["input"].get("context") or {}
        admitted = self.rules.admit_run(run, params, begun=True)
        admitted.book.require_unchanged(last["admitted"]["book"])
        used, known = Used(**last["used"]), admitted.book.capabilities
        spent = sum(known[one].about.cost_cents for one in made if one in known)
        used = replace(used, cost_cents=max(used.cost_cents, round(spent, 6)))
        held = {name: Wanted(**one) for name, one in (last.get("held") or {}).items()}
        self.rules.restore_session(run, admitted, used, recorded, held)

    def working(self, run: Run) -> AbstractContextManager[None]:
        return self.rules.open_session(run).usage.working()

    def tell(self, told: Told) -> dict[str, Any]:
        session = self.rules.open_session(told.run)
        made = {**told.last, "status": OPEN, "used": asdict(session.usage.read())}
        # Records of runs without an open question are made as before.
        made.pop("held", None)
        held = {name: asdict(one) for name, one in session.usage.list_held().items()}
        if held:
            made["held"] = held
        if told.status == "completed":
            outputs = spell_integers(told.outputs or {})
            outcome = outputs.get("outcome")
            made["outputs"] = session.admitted.book.redact(outputs)
            branch = told.branch if told.branch not in (None, "next") else "completed"
            made["outcome"] = outcome if isinstance(outcome, str) else branch
        return made

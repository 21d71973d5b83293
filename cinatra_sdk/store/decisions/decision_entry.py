"""Decisions of people, recorded: one short transaction, all of them or none.

In: a run, and a decision for each of some of its open gates.  Out: the flow that carries out the
decisions, and the context bound to the run; or that the same was recorded before.

The gates have to be open, and nothing else: a decision waits neither for the lock of the run nor for a
worker.

Who may approve at a gate of a pack is asked here as the graph asks it, by the rules of packs behind
`cinatra_sdk.api.may`, so that no approval is recorded that the run does not take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cinatra_sdk.api.permission import Action, ActionSubject, MayRule, may
from cinatra_sdk.errors import AnswerInvalid, GateClosed, InputInvalid, NotConfigured
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.answers import Answer
from cinatra_sdk.gates.decisions import Decision, changed
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.person import Person, PersonRecord
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.postgres.connection import Row, Rows, every, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.store.arguments import check_names, read_actor
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.decisions.decision_rows import (
    decision_row,
    gate_closed,
    open_gate,
    refuse_changed,
    refuse_credentials,
    refuse_ended_above,
    refuse_gate_of_other_run,
    refuse_other_question,
    refuse_withdrawn,
)
from cinatra_sdk.store.decisions.repeated_answers import find_repeat
from cinatra_sdk.store.evidence.record_writer import (
    describe_run,
    find_recorder,
    follow_record,
    read_transcript,
)
from cinatra_sdk.store.flows.context_owner import bound_context, refuse_strangers
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.flow_cache import KnownFlows
from cinatra_sdk.store.runs.run_rows import identity_of, load_row, read_gates
from cinatra_sdk.store.subjects import make_gate_subject
from cinatra_sdk.store.work.event_rows import list_event_columns, tell_gate

if TYPE_CHECKING:
    from cinatra_sdk.governance.gateway.host_record import GovernanceParts

Named: TypeAlias = str | Gate
"""A gate by its id, or as somebody saw it."""
Decisions: TypeAlias = Mapping[str, Decision]


class Decided(NamedTuple):
    """What recording decisions came to."""

    flow: DurableFlow | None
    """That carries them out; None where it cannot be made here: whoever has its parts goes on, and a run
    that was rejected has ended.
    """
    host: HostContext | None = None
    """The context bound to the run."""
    is_repeat: bool = False
    """The same was recorded before, and nothing was written now."""


def list_decisions(gate: Named | Decisions, decision: Decision | None) -> Decisions:
    """The forms of `RunStore.decide` as one: `{gate_id: decision}`.

    A decision that comes with the `Gate` itself is about what that one shows.

    Raises: `AnswerInvalid` for what is no decision, and for a name that is no gate's.
    """
    if isinstance(gate, Mapping):
        if not gate:
            raise AnswerInvalid("there is no decision", hint="give {gate_id: decision}")
        return dict(_name_decision(one, said) for one, said in gate.items())
    return dict([_name_decision(gate, decision)])


def list_seen(gate: Named | Decisions) -> tuple[Gate, ...]:
    """The gates that a caller gives as they saw them, in place of their ids."""
    named = gate if isinstance(gate, Mapping) else (gate,)
    return tuple(one for one in named if isinstance(one, Gate))


def _name_decision(named: object, decision: object) -> tuple[str, Decision]:
    gate_id = named.id if isinstance(named, Gate) else named
    try:
        check_names(gate_id=gate_id)
    except InputInvalid as error:
        raise AnswerInvalid(error.message, hint=error.hint) from None
    if not isinstance(gate_id, str):
        raise AnswerInvalid("no gate is named", hint="give its id, or the Gate")
    if not isinstance(decision, Decision):
        what = (
            "there is no decision"
            if decision is None
            else f"{type(decision).__name__} decides nothing"
        )
        raise AnswerInvalid(f"gate '{gate_id}': {what}", hint="give a Decision")
    if not isinstance(named, Gate):
        return gate_id, decision
    if not named.shown.startswith(decision.shown):
        raise changed(gate_id, named.shown, decision.shown)
    return gate_id, replace(decision, shown=named.shown)


def decide_gates(
    database: Database,
    flows: KnownFlows,
    run_id: str,
    decisions: Decisions,
    *,
    seen: Iterable[Gate] = (),
    flow: DurableFlow | None,
    tenant: str | None,
    context: HostContext | None,
    person: Person | None = None,
    goes_on: bool = True,
) -> Decided:
    """Check and record the decisions; seen: the gates that their author gave in place of ids.

    person: who decides, where a surface has proved it.
    goes_on: whether the caller goes on with the run, and so needs its flow; else what is known of it here
    is enough, for the gate's row has the form of the answer, and sweeps are told that the run is due.

    Raises: as `RunStore.decide`, before anything is written.
    """
    entry = _Entry(
        database=database, flows=flows, run_id=run_id, decisions=decisions, seen=tuple(seen),
        flow=flow, tenant=tenant, context=context, person=person, goes_on=goes_on,
    )  # fmt: skip
    try:
        return entry.decide()
    except GateClosed as closed:
        if closed.decision is None:
            raise
        with database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            if find_repeat(connection, row, decisions) is None:
                raise
        return Decided(flow=None, is_repeat=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """Decisions that are to be recorded, as `decide_gates` is given them."""

    database: Database
    flows: KnownFlows
    run_id: str
    decisions: Decisions
    seen: tuple[Gate, ...]
    flow: DurableFlow | None
    tenant: str | None
    context: HostContext | None
    person: Person | None
    goes_on: bool

    @property
    def rejects(self) -> bool:
        return _rejects(self.decisions)

    def decide(self) -> Decided:
        check_names(run_id=self.run_id, tenant=self.tenant)
        with self.database.connection() as connection:
            row = load_row(connection, self.run_id, self.tenant)
            for gate in self.seen:
                refuse_gate_of_other_run(row, gate)
            host = self._bind_context(row)
            answers = [
                self._check(connection, row, gate_id, decision, host)
                for gate_id, decision in self.decisions.items()
            ]
            made = self._find_flow(connection, row, host)
        self._ask_flow(made, row, answers)
        self._write(made, row, answers)
        return Decided(flow=made, host=host)

    def _bind_context(self, row: Row) -> HostContext:
        # Nothing runs after a rejection, and a broken part of the host must not prevent one.
        lent = (
            self.context
            if self.rejects
            else self.flows.lend(self.context, identity_of(row), self.flow)
        )
        return bound_context(lent, run_id=self.run_id, tenant=row["tenant"], named=self.tenant)

    def _check(
        self, connection: Rows, row: Row, gate_id: str, decision: Decision, host: HostContext
    ) -> tuple[Gate, Answer]:
        """The gate and what it is answered, by what its row tells alone."""
        gate = open_gate(connection, row, gate_id)
        refuse_other_question(row, gate, decision)
        if not decision.by.strip():
            raise AnswerInvalid(
                f"gate '{gate_id}': the decision does not say who decides",
                hint="name them: --as NAME",
                in_python="by=…",
            )
        read_actor(decision.by)
        refuse_credentials(decision, host)
        rule = make_requester_rule(connection, row, gate)
        refuse_approver(rule, row, gate, decision, self.person)
        return gate, gate.check(decision)

    def _find_flow(self, connection: Rows, row: Row, host: HostContext) -> DurableFlow | None:
        """As far as the decisions need one: None where none can be made here, and none has to be."""
        if self.rejects or not self.goes_on:
            return self.flows.flow_to_decide(connection, row, self.flow, rejects=self.rejects)
        made = self.flows.flow_of(connection, row, self.flow)
        refuse_strangers(made, host)
        return made

    def _ask_flow(
        self, made: DurableFlow | None, row: Row, answers: Sequence[tuple[Gate, Answer]]
    ) -> None:
        """Refuse what the flow's own parts do not take; they may be slow, so no connection is held."""
        for gate, answer in answers:
            if made is not None:
                refuse_withdrawn(made.platform, self.run_id, gate, answer)
            rule = make_role_rule(made, row, gate)
            refuse_approver(rule, row, gate, self.decisions[gate.id], self.person)

    def _write(
        self, made: DurableFlow | None, row: Row, answers: list[tuple[Gate, Answer]]
    ) -> None:
        with self.database.connection() as connection:
            due = not self.goes_on
            if _record_approval(connection, row, answers, self.decisions, made, due=due):
                return
            signer = self.flows.signer
            with connection.transaction():
                _record(connection, row, answers, self.decisions, made=made, signer=signer, due=due)


def _record_approval(
    connection: Rows,
    row: Row,
    answers: list[tuple[Gate, Answer]],
    decisions: Decisions,
    made: DurableFlow | None,
    *,
    due: bool,
) -> bool:
    """Record one decision that closes no other gate, by the one statement that needs; False where
    there are more, or where the gate has changed since it was looked at.
    """
    if len(answers) > 1 or _rejects(decisions):
        return False
    gate, decision = answers[0][0], decisions[answers[0][0].id]
    kept = decision_row(row, gate, decision, made, row["now"])
    told = {**list_event_columns([tell_decision(gate, decision)]), "tells_due": due}
    return one(connection, "insert_decision", {**kept, **told}) is not None


def _record(
    connection: Rows,
    row: Row,
    answers: list[tuple[Gate, Answer]],
    decisions: Decisions,
    *,
    made: DurableFlow | None,
    signer: Any,
    due: bool,
) -> None:
    # Under the row's lock: nobody stops the run, or decides, between this look and the record.
    about = {"run_id": row["run_id"]}
    locked = one(connection, "lock_run_row", about)
    assert locked is not None  # runs are never removed
    refuse_ended_above(connection, row)
    at = locked.pop("now")
    now = {**row, **locked, "open_gates": every(connection, "list_open_gates", about)}
    gates = {gate_id: open_gate(connection, now, gate_id) for gate_id in decisions}
    for looked_at, _answer in answers:
        refuse_changed(row["run_id"], gates[looked_at.id], looked_at.shown)
    rows = [
        decision_row(row, gate, decisions[gate_id], made, at) for gate_id, gate in gates.items()
    ]
    events = [[tell_decision(gate, decisions[gate_id])] for gate_id, gate in gates.items()]
    if _rejects(decisions):
        events[-1] += [
            tell_gate(gate, "closed")
            for gate in read_gates(now["open_gates"], row)[0]
            if gate.id not in decisions
        ]
    for kept, told in zip(rows, events, strict=True):
        about_it = {**kept, **list_event_columns(told), "tells_due": due and made is not None}
        if one(connection, "insert_decision", about_it) is None:
            raise gate_closed(connection, row["run_id"], kept["gate_id"])
    if made is None and _rejects(decisions):
        said = next(iter(decisions.values()))
        why = f"GATE_REJECTED: {said.by} rejected it: {said.reason}".rstrip(": ")
        follow_record(connection, row, "rejected", reason=why, signer=signer)
        execute(connection, "reject_run", about)


def _rejects(decisions: Decisions) -> bool:
    return any(decision.kind == "rejected" for decision in decisions.values())


def tell_decision(gate: Gate, decision: Decision) -> RunEvent:
    """The news of a person's decision."""
    return tell_gate(gate, decision.kind, kind="decision", by=decision.by, reason=decision.reason)


def refuse_approver(
    rule: MayRule, row: Row, gate: Gate, decision: Decision, person: Person | None
) -> None:
    """person: None: the host itself records what `decision.by` said.

    Raises: `AnswerInvalid` where the rule refuses them, and what the rule raises.
    """
    asked = person or decision.person or Person(id=decision.by, tenant=None, proof="host")
    said = may(asked, "answer", make_gate_subject(row, gate, decision), rules=(rule,))
    if not said.allowed:
        raise AnswerInvalid(said.reason, hint=said.hint)


def make_role_rule(flow: Any, row: Row, gate: Gate) -> MayRule:
    """Refuses to approve where a gate of a pack asks for a role that the person does not have.

    flow: None where it cannot be made here.

    The rule raises `NotConfigured` where nobody here knows who has a role, and where the host's `roles_of`
    or `word_for` gives something else than it has to.
    """
    values = gate.payload.get("values")
    role = values.get("approver_role") if isinstance(values, Mapping) else None

    def refuse_role(person: Person, _action: Action, subject: ActionSubject) -> Verdict | None:
        if not row["governed"] or not isinstance(role, str) or subject.decision != "approved":
            return None
        governance = _find_governance(flow, gate, role)
        ports = governance.ports
        tenant = governance.read_word(describe_run(row)).tenant
        if role in ports.list_roles(tenant, person.id):
            return None
        return Verdict.refuse(
            f"gate '{gate.id}' is for somebody with the role '{role}'",
            code="approver_role",
            hint="" if ports.roles_of else "the host gives no roles: GovernancePorts(roles_of=…)",
        )

    return refuse_role


def _find_governance(flow: Any, gate: Gate, role: str) -> GovernanceParts:
    """Who knows the roles of people.  Raises: `NotConfigured` where nobody here does."""
    recorder = None if flow is None else find_recorder(flow)
    if recorder is None:
        raise NotConfigured(
            f"gate '{gate.id}' is for somebody with the role '{role}', and this process cannot "
            "tell who has it",
            hint="lend the governance of the run's host: --host",
        )
    return recorder.governance


def make_requester_rule(connection: Rows, row: Row, gate: Gate) -> MayRule:
    """Refuses to approve where a gate of a pack is for another person than those who asked.

    Asked of the same run as the graph asks.  The rule raises `GovernanceRefused` where the run could not
    go on with the decision.
    """
    from cinatra_sdk.governance.contracts.invocation import RunContext
    from cinatra_sdk.governance.packs.pack_policy import (
        NOT_REQUESTER,
        find_requester_problem,
        list_requesters,
    )

    values = gate.payload.get("values")
    approver = values.get("approver") if isinstance(values, Mapping) else None

    def refuse_requester(person: Person, _action: Action, subject: ActionSubject) -> Verdict | None:
        if not row["governed"] or subject.decision == "rejected":
            return None
        last = one(connection, "load_last_record", {"run_id": row["run_id"]})
        assert last is not None  # see `restore_records`
        transcript = read_transcript(row["run_id"], last)
        if approver != NOT_REQUESTER or subject.decision != "approved":
            return None
        run = RunContext.read(transcript["admitted"]["run"])
        problem = find_requester_problem(list_requesters(run, row["started_by"] or ""), person.id)
        starter = PersonRecord.read(row, "started", "started_by")
        if not problem and starter.sub and starter.is_same_person(PersonRecord.of(person)):
            problem = "is not for whoever asked for the call, under whichever name"
        if not problem:
            return None
        return Verdict.refuse(
            f"gate '{gate.id}' {problem}",
            code=NOT_REQUESTER,
            hint="somebody else has to look at it and approve",
        )

    return refuse_requester

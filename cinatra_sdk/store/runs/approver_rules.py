"""Who may approve at a gate of a pack: the rules of packs, as `cinatra_sdk.api.may` asks them.

In: a run's row, a gate, and who would answer.  Out: nothing, or the refusal that the graph would come to as
well, so that no approval is recorded that the run does not take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.api.permission import Action, ActionSubject, MayRule, Person, may
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.evidence.record_writer import describe_run, find_recorder, read_transcript


def refuse_approver(
    rule: MayRule, row: Row, gate: Gate, decision: Decision, person: Person | None
) -> None:
    """person: None: the host itself records what `decision.by` said.

    Raises: `AnswerInvalid` where the rule refuses them, and what the rule raises.
    """
    asked = person or Person(id=decision.by, tenant=None, proof="host")
    said = may(asked, "answer", make_gate_subject(row, gate, decision), rules=(rule,))
    if not said.allowed:
        raise AnswerInvalid(said.reason, hint=said.hint)


def make_gate_subject(row: Row, gate: Gate, decision: Decision | None) -> ActionSubject:
    """decision: None: not known yet."""
    return ActionSubject(
        kind="gate",
        tenant=row["tenant"],
        flow=row["flow_name"],
        run_id=row["run_id"],
        started_by=row["started_by"] or "",
        owner=row["owner"] or "",
        name=gate.id,
        risk=gate.risk,
        decision="" if decision is None else decision.kind,
    )


def make_role_rule(flow: Any, row: Row, gate: Gate) -> MayRule:
    """Refuses to approve where a gate of a pack asks for a role that the person does not have.

    The rule raises `NotConfigured` where the host's `roles_of` or `word_for` gives something else than it
    has to.
    """
    values = gate.payload.get("values")
    role = values.get("approver_role") if isinstance(values, Mapping) else None

    def refuse_role(person: Person, _action: Action, subject: ActionSubject) -> Verdict | None:
        recorder = find_recorder(flow) if row["governed"] else None
        if recorder is None or not isinstance(role, str) or subject.decision != "approved":
            return None
        ports = recorder.governance.ports
        tenant = recorder.governance.read_word(describe_run(row)).tenant
        if role in ports.list_roles(tenant, person.id):
            return None
        return Verdict.refuse(
            f"gate '{gate.id}' is for somebody with the role '{role}'",
            code="approver_role",
            hint="" if ports.roles_of else "the host gives no roles: GovernancePorts(roles_of=…)",
        )

    return refuse_role


def make_requester_rule(connection: Rows, row: Row, gate: Gate) -> MayRule:
    """Refuses to approve where a gate of a pack is for another person than those who asked.

    Asked of the same run as the graph asks.  The rule raises `GovernanceRefused` where the run could not
    go on with the decision.
    """
    from cinatra_sdk.governance.contracts.invocation import RunContext
    from cinatra_sdk.governance.gateway.pack_policy import (
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
        if not problem:
            return None
        return Verdict.refuse(
            f"gate '{gate.id}' {problem}",
            code=NOT_REQUESTER,
            hint="somebody else has to look at it and approve",
        )

    return refuse_requester

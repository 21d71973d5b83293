"""Who may approve at a gate of a pack; asked before an approval is recorded.

In: a run, a gate and a decision.  Out: nothing, or the refusal that the graph would come to as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.recording import describe_run, find_recorder


def refuse_unfit_approver(flow: Any, row: Row, gate: Gate, decision: Decision) -> None:
    """Raises: `AnswerInvalid` where a gate of a pack asks for a role that the person does not have."""
    values = gate.payload.get("values")
    role = values.get("approver_role") if isinstance(values, Mapping) else None
    recorder = find_recorder(flow) if row["governed"] else None
    if recorder is None or not isinstance(role, str) or not decision.approved:
        return
    roles_of = recorder.governance.ports.roles_of
    tenant = recorder.governance.read_word(describe_run(row)).tenant
    if roles_of is None or role not in roles_of(tenant, decision.by):
        raise AnswerInvalid(
            f"gate '{gate.id}' is for somebody with the role '{role}'",
            hint="" if roles_of else "the host gives no roles: GovernancePorts(roles_of=…)",
        )


def refuse_requester(connection: Rows, row: Row, gate: Gate, decision: Decision) -> None:
    """Asked of the same run as the graph asks, so that no approval is recorded that it does not take.

    Raises: `AnswerInvalid` where a gate of a pack is for another person than those who asked.
    """
    from cinatra_sdk.governance.contracts.run_context import RunContext
    from cinatra_sdk.governance.requester import (
        NOT_REQUESTER,
        find_requester_problem,
        list_requesters,
    )

    values = gate.payload.get("values")
    asked = values.get("approver") if isinstance(values, Mapping) else None
    if not row["governed"] or asked != NOT_REQUESTER or not decision.approved:
        return
    last = one(connection, "load_last_record", {"run_id": row["run_id"]})
    assert last is not None  # see `restore_records`
    run = RunContext.read(json.loads(last["transcript"])["admitted"]["run"])
    problem = find_requester_problem(list_requesters(run, row["started_by"] or ""), decision.by)
    if problem:
        raise AnswerInvalid(
            f"gate '{gate.id}' {problem}", hint="somebody else has to look at it and approve"
        )

"""What `may` is asked about: runs, gates and calls, as their rows tell of them."""

from __future__ import annotations

from cinatra_sdk.api.permission import Action, ActionSubject, may
from cinatra_sdk.errors import NotAllowed
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.person import Person
from cinatra_sdk.postgres.connection import Row


def make_run_subject(row: Row, key: str = "") -> ActionSubject:
    """key: of a call of the run, where it is asked about that."""
    return ActionSubject(
        kind="call" if key else "run",
        tenant=row["tenant"],
        flow=row["flow_name"],
        run_id=row["run_id"],
        started_by=row["started_by"] or "",
        started_sub=row["started_sub"],
        started_issuer=row["started_issuer"],
        owner=row["owner"] or "",
        name=key,
    )


def make_gate_subject(row: Row, gate: Gate, decision: Decision | None) -> ActionSubject:
    """decision: None: not known yet."""
    return ActionSubject(
        kind="gate",
        tenant=row["tenant"],
        flow=row["flow_name"],
        run_id=row["run_id"],
        started_by=row["started_by"] or "",
        started_sub=row["started_sub"],
        started_issuer=row["started_issuer"],
        owner=row["owner"] or "",
        name=gate.id,
        risk=gate.risk,
        decision="" if decision is None else decision.kind,
    )


def refuse_other_tenant(by: str | Person, action: Action, subject: ActionSubject) -> None:
    """Refuse a person of another tenant, where the host's own store is given one in place of a name.

    Raises: `NotAllowed`.
    """
    if not isinstance(by, Person):
        return
    said = may(by, action, subject)
    if not said.allowed:
        raise NotAllowed(said.reason, hint=said.hint, code=said.code)

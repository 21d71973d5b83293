"""One gate as it was asked: open, decided or closed, readable as long as the run's evidence.

    asked = load_asked_gate(database, "r1", "review")
    asked.state, asked.gate.values, asked.decision      "decided", {"subject": "Bees"}, GateDecision(…)

A gate that showed one thing and then another has a row for each; a hash names the one that is meant.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import GateNotFound, GateUnreadable
from cinatra_sdk.gates.decisions import SHORT, read_shown
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every
from cinatra_sdk.store.arguments import check_names
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.decisions.decision_rows import GateDecision
from cinatra_sdk.store.runs.run_rows import load_row, read_gates

GateState: TypeAlias = Literal["open", "decided", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedGate:
    """A visit of a gate with what it showed, and what became of it."""

    gate: Gate
    """As it was shown."""
    run_id: str
    tenant: str
    flow: str
    """The flow's name."""
    started_by: str
    state: GateState
    """`closed`: it takes no decision any more, because its run ended or went another way."""
    opened_at: datetime
    settled_at: datetime | None
    """When it was decided or closed."""
    decision: GateDecision | None
    """None: nobody decided about what it showed."""
    others: tuple[str, ...] = ()
    """Hashes of what else it showed at the same visit, the oldest first."""


def load_asked_gate(
    database: Database, run_id: str, gate_id: str, shown: str | None, *, tenant: str | None
) -> AskedGate:
    """shown: the hash of what it showed, or its first letters; None: what it showed last.

    Raises: `RunNotFound`; `GateNotFound` where the run has not asked this; `GateUnreadable`;
    `AnswerInvalid` for what is no hash.
    """
    check_names(run_id=run_id, gate_id=gate_id, tenant=tenant)
    named = "" if shown is None else read_shown(shown)
    with database.connection() as connection:
        run = load_row(connection, run_id, tenant)
        about = {"run_id": run_id, "gate_id": gate_id}
        rows = every(connection, "load_asked_gates", about)
        fitting = [row for row in rows if row["payload_sha256"].startswith(named)]
        if not fitting:
            raise _build_not_found(connection, run, gate_id, named, rows)
        row = fitting[-1]
        decided = every(connection, "load_decisions_of_gate", about)
    return _read_asked_gate(run, row, rows, decided)


def _read_asked_gate(run: Row, row: Row, rows: Sequence[Row], decided: Sequence[Row]) -> AskedGate:
    """row: the one of `rows` that is meant; decided: the decisions at the gate.

    Raises: `GateUnreadable`.
    """
    gates, problems = read_gates([row], run)
    if problems:
        raise GateUnreadable(f"run '{run['run_id']}', {problems[0]}", hint="its row is damaged")
    kept = [one for one in decided if one["payload_sha256"] == row["payload_sha256"]]
    return AskedGate(
        gate=gates[0],
        run_id=run["run_id"],
        tenant=run["tenant"],
        flow=run["flow_name"],
        started_by=run["started_by"],
        state=row["state"],
        opened_at=row["opened_at"],
        settled_at=row["settled_at"],
        decision=GateDecision.of(kept[0]) if kept else None,
        others=tuple(one["payload_sha256"] for one in rows if one is not row),
    )


def _build_not_found(
    connection: Rows, run: Row, gate_id: str, named: str, rows: Sequence[Row]
) -> GateNotFound:
    run_id = run["run_id"]
    if rows:
        known = ", ".join(row["payload_sha256"][:SHORT] for row in rows)
        return GateNotFound(
            f"gate '{gate_id}' of run '{run_id}' has not shown {named[:SHORT]}",
            hint=f"it has shown: {known}",
        )
    if every(connection, "load_decisions_of_gate", {"run_id": run_id, "gate_id": gate_id}):
        return GateNotFound(
            f"gate '{gate_id}' of run '{run_id}' asked nobody: the approval policy skipped it",
            hint=f"see its decisions: oasflow show {shlex.quote(run_id)}",
        )
    asked = [one["gate_id"] for one in every(connection, "list_asked_gates", {"run_id": run_id})]
    nearest = did_you_mean(gate_id, asked)
    return GateNotFound(
        f"run '{run_id}' has asked nothing at a gate '{gate_id}'",
        hint=f"{f'{nearest} ' if nearest else ''}what it waits for and was told: "
        f"oasflow show {shlex.quote(run_id)}",
    )

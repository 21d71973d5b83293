"""The same answer by the same person, given again: a client that got no reply sends it once more.

    find_repeat(connection, row, {"review": Decision.approve(by="ann", shown="5f0c…")})

It is a repeat where person, hash of what was shown, word, reason and value are those of the row; by which
channel it came does not matter.  Of several, all are, for they were recorded together or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.person import PersonRecord
from cinatra_sdk.postgres.connection import Row, Rows, every
from cinatra_sdk.store.decisions.decision_rows import decision_row
from cinatra_sdk.store.runs.run_rows import read_gates

_MOMENT: Final = "approvedAt"
"""Of a recorded answer: when it was recorded."""


def find_repeat(
    connection: Rows, row: Row, decisions: Mapping[str, Decision]
) -> Mapping[str, Gate] | None:
    """The gates as they were decided, by id, where each decision is recorded so; else None."""
    found = {
        gate_id: _find_same(connection, row, gate_id, said) for gate_id, said in decisions.items()
    }
    gates = {gate_id: gate for gate_id, gate in found.items() if gate is not None}
    return gates if len(gates) == len(decisions) else None


def _find_same(connection: Rows, row: Row, gate_id: str, said: Decision) -> Gate | None:
    about = {"run_id": row["run_id"], "gate_id": gate_id}
    asked = every(connection, "load_asked_gates", about)
    kept = every(connection, "load_decisions_of_gate", about)
    if not said.shown and len(asked) > 1:
        return None  # nobody knows which of them it is about
    asked = [one for one in asked if one["payload_sha256"].startswith(said.shown)]
    decided = {one["payload_sha256"]: one for one in kept}
    if not asked or asked[-1]["payload_sha256"] not in decided:
        return None
    gates, _problems = read_gates(asked[-1:], row)
    same = bool(gates) and _is_same(row, gates[0], said, decided[asked[-1]["payload_sha256"]])
    return gates[0] if same else None


def _is_same(row: Row, gate: Gate, said: Decision, kept: Row) -> bool:
    author = PersonRecord.read(kept, "by", "decided_by")
    if (said.kind, said.reason) != (kept["kind"], kept["reason"]):
        return False
    if author.name != said.by or not author.is_same_person(said.author):
        return False
    try:
        written = decision_row(row, gate, said, None, kept["decided_at"])
    except AnswerInvalid:
        return False
    return _write_plain(written["answer"].obj) == _write_plain(kept["answer"])


def _write_plain(answer: Any) -> str:
    """An answer without its moment: as text, because 1 and true are equal to Python."""
    plain = {name: said for name, said in answer.items() if name != _MOMENT}
    return json.dumps(plain, sort_keys=True)

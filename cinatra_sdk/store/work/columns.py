"""Records as parameters of one statement that writes many rows: a JSON text for each table.

list_rows(("id", "visit"), [("a", 1), ("b", 2)])  ->  '[{"id": "a", "visit": 1}, {"id": "b", "visit": 2}]'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from cinatra_sdk.events.event import RunEvent
from cinatra_sdk.gates.gate import Gate

_EVENT: Final = ("kind", "name", "path", "visit", "data")
_GATE: Final = (
    "gate_id", "sha256", "node", "visit", "step", "interrupt", "payload", "response_schema",
)  # fmt: skip


def list_gate_columns(gates: Iterable[Gate]) -> dict[str, Any]:
    """The gates as parameters of a statement; a gate that is named twice counts once."""
    rows = {
        (gate.id, gate.payload_sha256): (
            gate.id, gate.payload_sha256, gate.node, gate.visit, gate.step, gate.interrupt,
            json.dumps(gate.payload), json.dumps(gate.asked),
        )
        for gate in gates
    }  # fmt: skip
    return {"gate_rows": list_rows(_GATE, rows.values())}


def list_event_columns(events: Sequence[RunEvent]) -> dict[str, Any]:
    """The events as parameters of a statement, with their number as `events`."""
    rows = [(one.kind, one.name, one.path, one.visit, json.dumps(dict(one.data))) for one in events]
    return {"events": len(rows), "event_rows": list_rows(_EVENT, rows)}


def list_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as a JSON text for `json_to_recordset`; values after the last name are left out."""
    return json.dumps([dict(zip(names, row, strict=False)) for row in rows])

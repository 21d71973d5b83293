"""Records as parameters of one statement that writes many rows: a list for each column.

turn_rows("gate", ("id", "visit"), [("a", 1), ("b", 2)])  ->  {"gate_id": ["a", "b"], "gate_visit": [1, 2]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cinatra_sdk.events.event import RunEvent
from cinatra_sdk.gates.gate import Gate


def list_gate_columns(gates: Iterable[Gate]) -> dict[str, Any]:
    """The gates as parameters of a statement; a gate that is named twice counts once."""
    names = ("id", "sha256", "node", "visit", "step", "interrupt", "payload", "schema")
    rows = {
        (gate.id, gate.payload_sha256): (
            gate.id, gate.payload_sha256, gate.node, gate.visit, gate.step, gate.interrupt,
            json.dumps(gate.payload), json.dumps(gate.asked),
        )
        for gate in gates
    }  # fmt: skip
    return turn_rows("gate", names, rows.values())


def list_event_columns(events: Sequence[RunEvent]) -> dict[str, Any]:
    """The events as parameters of a statement, with their number as `events`."""
    names = ("kind", "name", "path", "visit", "data")
    rows = [(one.kind, one.name, one.path, one.visit, json.dumps(dict(one.data))) for one in events]
    return {"events": len(rows), **turn_rows("event", names, rows)}


def turn_rows(of: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns: `{"gate_id": ["a", "b"], …}`."""
    kept = list(rows)
    return {f"{of}_{name}": [row[place] for row in kept] for place, name in enumerate(names)}

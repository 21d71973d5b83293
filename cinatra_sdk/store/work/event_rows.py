"""Events that wait to be stored, and rows as one JSON parameter for each table.

list_rows(("id", "visit"), [("a", 1), ("b", 2)])  ->  '[{"id": "a", "visit": 1}, {"id": "b", "visit": 2}]'
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from cinatra_sdk.events import Kind, RunEvent, Tell
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


# ----------------------------------------------------------------------------
# Events of an activation that wait to be stored with its checkpoints.
#
#     `buffer = EventBuffer()`
#     `buffer.add(RunEvent(kind="node", name="finished", path="draft", visit=1))`
#     RunSaver(connection, claim, events=buffer)     stores them with its next flush
#
# An event and the checkpoint that it tells of are stored together or not at all.  So a node whose work a
# crash cut off has no event of it; when it runs again its events come once more, as those of a new
# attempt at the same visit: after `run started`, which every activation begins with.


class EventBuffer:
    """Events in their order; safe to share between threads."""

    def __init__(self, *, live: Tell | None = None) -> None:
        """live: takes what is never stored."""
        self._events: list[RunEvent] = []
        self._live = live
        self._lock = threading.Lock()

    def add(self, event: RunEvent) -> None:
        """Keep the event for the next write; tokens of a model are told and not kept."""
        if event.kind == "token":
            if self._live is not None:
                self._live(event)
            return
        with self._lock:
            self._events.append(event)

    def read_all(self) -> tuple[RunEvent, ...]:
        """Every event that waits; all of them wait until `drop` says that they are stored."""
        with self._lock:
            return tuple(self._events)

    def drop(self, number: int) -> None:
        """Forget the first `number` events, which are stored now."""
        with self._lock:
            del self._events[:number]


def list_opened(gates: Iterable[Gate]) -> list[RunEvent]:
    """The news that gates are open; the statement leaves out those that were open before."""
    return [
        tell_gate(gate, "opened", payload_sha256=gate.payload_sha256)
        for gate in {(gate.id, gate.payload_sha256): gate for gate in gates}.values()
    ]


def tell_gate(gate: Gate, name: str, *, kind: Kind = "gate", **data: str) -> RunEvent:
    """An event of a gate, at the path of its node."""
    path = gate.id.removesuffix(f"#{gate.visit}")
    return RunEvent(
        kind=kind, name=name, path=path, visit=gate.visit, data={"gate": gate.id, **data}
    )

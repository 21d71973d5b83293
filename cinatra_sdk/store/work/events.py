"""Events of an activation that wait to be stored with its checkpoints.

    buffer = EventBuffer()
    buffer.add(RunEvent(kind="node", name="finished", path="draft", visit=1))
    RunSaver(connection, claim, events=buffer)     stores them with its next flush

An event and the checkpoint that it tells of are stored together or not at all.  So a node whose work a
crash cut off has no event of it; when it runs again its events come once more, as those of a new
attempt at the same visit: after `run started`, which every activation begins with.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from cinatra_sdk.events.event import Kind, RunEvent, Tell
from cinatra_sdk.gates.gate import Gate


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

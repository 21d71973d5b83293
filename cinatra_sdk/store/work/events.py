"""Events of an activation that wait for the next write of its checkpoints.

    buffer = EventBuffer()
    buffer.add(NewEvent(kind="node", path="draft", visit=1, data={"status": "finished"}))
    RunSaver(connection, claim, events=buffer)     stores them with its next write

An event and the checkpoint that it tells of are stored together or not at all.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event without its number and time, which the database gives."""

    kind: str
    path: str = ""
    """The node, with the nodes around it: `outer/inner[2]/node`."""
    visit: int | None = None
    data: Mapping[str, JsonValue] = field(default_factory=dict)


class EventBuffer:
    """Events in their order; safe to share between threads."""

    def __init__(self) -> None:
        self._events: list[NewEvent] = []
        self._lock = threading.Lock()

    def add(self, event: NewEvent) -> None:
        with self._lock:
            self._events.append(event)

    def read_all(self) -> tuple[NewEvent, ...]:
        """Every event that waits; all of them wait until `drop` says that they are stored."""
        with self._lock:
            return tuple(self._events)

    def drop(self, number: int) -> None:
        """Forget the first `number` events, which are stored now."""
        with self._lock:
            del self._events[:number]

"""`RunEvent`: an event of a run.

    RunEvent(kind="node", name="started", path="outer#2/each[3]/draft", visit=1)
    RunEvent(kind="node", name="finished", path="review", data={"next": "send"})

| kind | names | data |
|---|---|---|
| `run` | `created`, `started`, `paused`, `resumed`, `stopped` (and every other status at which it comes to rest), `left` (whoever worked on it stopped before a step), `archived` | `by`, `reason` |
| `node` | `started`; `finished`, `paused`, `failed` | `next`, `branch`, `decision`; `gate`; `error`, `code` |
| `gate` | `opened`, `closed` | `gate` |
| `decision` | `approved`, `rejected`, `denied`, `auto_skipped` | `gate`, `by`, `reason` |
| `effect` | `begun`, `done`, `replayed`, `failed`, `refused`, `unknown`, `settled` | `kind`, `capability`, `key`; `code`, `error` |
| `message` | `said` | `id` as in `Run.messages`, `role`, `content` |
| `usage` | `spent` | what it counts |
| `token` | `said`; `dropped`: the model is asked again | `text`; live only, never stored |
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias
from urllib.parse import unquote

from pydantic import JsonValue

from cinatra_sdk.light_imports.records import dataclass

__all__ = ["RunEvent", "split_path"]

Kind = Literal["run", "node", "gate", "decision", "effect", "message", "usage", "token"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """An event of a run; holds no credential."""

    kind: Kind
    name: str
    path: str = ""
    """The node: the nodes around it with their visits and items, then its own id; empty: the run.

    Its parts are escaped as in ids of gates (`cinatra_sdk.gates.gate.label`).
    """
    visit: int = 0
    """Of the node, from 1; 0 where the event is no node's."""
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    run_id: str = ""
    """Set, like `seq` and `at`, by the store that keeps the event."""
    seq: int = 0
    """Number in its run, from 1 without a gap."""
    at: datetime | None = None
    """The database's time."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The author's ids of the nodes around the node, from the outermost on, then its own."""
        return tuple(node for node, _ in split_path(self.path))

    @property
    def node(self) -> str:
        """The author's id of the node; empty for an event of the run."""
        return self.nodes[-1] if self.path else ""


Tell: TypeAlias = Callable[[RunEvent], None]


def split_path(path: str) -> tuple[tuple[str, int | None], ...]:
    """The author's id of each node of a path, from the outermost on, with its item.

    `outer#2/each[3]/draft` → (outer, None), (each, 3), (draft, None): a `#` or `[` of an id itself is
    escaped.
    """
    return tuple(_split_part(part) for part in path.split("/")) if path else ()


def _split_part(part: str) -> tuple[str, int | None]:
    label, _, item = part.partition("[")
    number = item.rstrip("]")
    return unquote(label.partition("#")[0]), int(number) if number.isdecimal() else None


# ----------------------------------------------------------------------------
# Events on their way from a node to the host; an error on this way never makes the node fail.


log = logging.getLogger("oasflow.events")
_TOLD: Final[set[str]] = set()
"""Errors of listeners that this process has logged already."""


def tell_event(tell: Tell, event: RunEvent) -> None:
    """Hand an event on; an error of the listener is logged once."""
    try:
        tell(event)
    except Exception as error:  # noqa: BLE001 - whoever listens must not change the run
        name = type(error).__name__
        if name not in _TOLD:
            _TOLD.add(name)
            log.warning("a listener to events fails with %s; the run goes on", name)


def tell_node(
    tell: Tell,
    name: str,
    *,
    path: str,
    visit: int,
    data: Mapping[str, JsonValue] | None = None,
) -> None:
    """Tell that a node started, finished, paused or failed."""
    tell_event(tell, RunEvent(kind="node", name=name, path=path, visit=visit, data=data or {}))


PATIENCE: Final = 2.0
"""Seconds for which `flush` waits for a watcher; after that the watcher is told no more."""
MOST_WAITING: Final = 10_000
"""Events that may wait for a slow watcher; what comes on top of them is not delivered."""


class Watcher:
    """Delivers events to one function."""

    def __init__(self, watch: Tell, *, patience: float = PATIENCE) -> None:
        self._watch = watch
        self._patience = patience
        self._waiting: queue.Queue[RunEvent | threading.Event] = queue.Queue(MOST_WAITING)
        self._given_up = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def tell(self, event: RunEvent) -> None:
        """Hand an event on; never waits."""
        if self._given_up:
            return
        self._start()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(event)

    def flush(self) -> None:
        """Wait until what was told so far is delivered, for as long as the watcher is waited for."""
        if self._given_up or self._thread is None:
            return
        delivered = threading.Event()
        try:
            self._waiting.put(delivered, timeout=self._patience)
        except queue.Full:
            self._give_up()
            return
        if not delivered.wait(self._patience):
            self._give_up()

    def close(self) -> None:
        """Deliver what is left, and end the thread."""
        self.flush()
        self._given_up = True
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(threading.Event())  # wakes the thread, which then ends

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _give_up(self) -> None:
        self._given_up = True
        log.warning("a watcher of events takes too long; the run goes on without it")

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._deliver, name="oasflow-watcher", daemon=True
                )
                self._thread.start()

    def _deliver(self) -> None:
        while True:
            waiting = self._waiting.get()
            if isinstance(waiting, threading.Event):
                waiting.set()
            else:
                tell_event(self._watch, waiting)
            if self._given_up:
                return

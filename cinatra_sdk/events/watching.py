"""Watchers of a run: each gets the events in order, in a thread of its own.

    watcher = Watcher(print)
    watcher.tell(event)          returns at once
    watcher.flush()              after it, what was told has been delivered, unless the watcher hangs

A watcher that raises, hangs or goes away changes nothing: its error is logged once, one that takes
too long is told no more, and the run never waits for it longer than `PATIENCE`.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from types import TracebackType
from typing import Final, Self

from cinatra_sdk.events.event import RunEvent, Tell
from cinatra_sdk.events.telling import tell_event

log = logging.getLogger("oasflow.events")

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

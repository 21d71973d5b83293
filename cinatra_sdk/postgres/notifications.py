"""News of runs: subscribers are woken by NOTIFY, and at once by changes in this process.

    with news.subscribe("r1") as subscriber:
        …                          # read what there is
        subscriber.wait(5.0)       # True as soon as there may be more

One connection listens for all subscribers of a channel, while there are any.  News says only that there
is something to read, so lost news costs a subscriber no more than `POLL`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, LiteralString

import psycopg

from cinatra_sdk.errors import StoreError
from cinatra_sdk.events import RunEvent
from cinatra_sdk.postgres.connection import connect

log = logging.getLogger("oasflow.store")

CHANNEL: Final = "oasflow_events"
"""News of runs, by id."""
DUE_CHANNEL: Final = "oasflow_due"
"""That runs became due, of no run in particular, so that the server tells many at once as one."""
EVERY_RUN: Final = ""
"""In place of a run's id: whoever subscribes to it is woken by news of any run."""
POLL: Final = 5.0
"""Seconds after which a subscriber looks by itself."""
POOLED: Final = 1.0
"""Seconds after which all look behind a pooler, through which no news comes."""
MOST_LIVE: Final = 1000
"""Live events that wait for a slow subscriber; the oldest of them are dropped for newer ones."""
_TURN: Final = 0.5
"""Seconds after which the listening thread looks whether it is still needed."""


class Subscriber:
    """Somebody who follows one run."""

    def __init__(self, call: Callable[[], None] | None = None) -> None:
        """call: called from any thread when there is news; must return at once."""
        self._news = threading.Event()
        self._call = call
        self._live: deque[RunEvent] = deque(maxlen=MOST_LIVE)

    def wake(self) -> None:
        self._news.set()
        if self._call is not None:
            self._call()

    def tell(self, event: RunEvent) -> None:
        self._live.append(event)
        self.wake()

    def wait(self, seconds: float) -> bool:
        """Whether there was news within the time."""
        return self._news.wait(seconds)

    def take_live(self) -> list[RunEvent]:
        """What was told live since the last look; from here on, news counts again."""
        self._news.clear()
        taken = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._live.popleft())
        return taken


class Listening:
    """The subscribers of one channel of a database; safe to share between threads, and with forked processes."""

    def __init__(
        self, dsn: str, channel: LiteralString = CHANNEL, *, is_pooled: bool = False
    ) -> None:
        """is_pooled: whether the address is that of a pooler, behind which nobody can listen."""
        self._dsn = dsn
        self._is_pooled = is_pooled
        self._channel = channel
        self._closed = False
        self._begin_empty()

    def _begin_empty(self) -> None:
        self._subscribers: dict[str, list[Subscriber]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_cut_off = False
        """Whether it was told that nothing can be heard; told once, until something can be again."""
        self._process = os.getpid()

    @contextlib.contextmanager
    def subscribe(
        self, run_id: str, call: Callable[[], None] | None = None
    ) -> Iterator[Subscriber]:
        self._notice_a_fork()
        made = Subscriber(call)
        with self._lock:
            self._subscribers.setdefault(run_id, []).append(made)
            self._start_thread()
        try:
            yield made
        finally:
            with self._lock:
                left = [one for one in self._subscribers.get(run_id, ()) if one is not made]
                self._subscribers[run_id] = left
                if not left:
                    del self._subscribers[run_id]

    def wake(self, run_id: str) -> None:
        """There is something new to read of a run."""
        for name in {run_id, EVERY_RUN}:
            for subscriber in self._list_subscribers(name):
                subscriber.wake()

    def tell(self, run_id: str, event: RunEvent) -> None:
        """Hand a live event to those who follow the run in this process."""
        for subscriber in self._list_subscribers(run_id):
            subscriber.tell(event)

    def close(self) -> None:
        self._notice_a_fork()
        with self._lock:
            self._closed = True

    def _list_subscribers(self, run_id: str | None) -> list[Subscriber]:
        self._notice_a_fork()
        with self._lock:
            if run_id is not None:
                return list(self._subscribers.get(run_id, ()))
            return [one for some in self._subscribers.values() for one in some]

    def _notice_a_fork(self) -> None:
        # Its parent's subscribers and its thread did not come along, and the lock is perhaps in the
        # hands of a thread that did not either.
        if self._process != os.getpid():
            self._begin_empty()

    def _start_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._listen, name="oasflow-news", daemon=True)
            self._thread.start()

    def _is_over(self) -> bool:
        """Whether nobody listens any more; then the next subscriber starts a thread of its own."""
        with self._lock:
            if self._subscribers and not self._closed:
                return False
            self._thread = None
            return True

    def _listen(self) -> None:
        if self._is_pooled:
            self._look_on()
            return
        while not self._is_over():
            try:
                self._listen_once()
            except (psycopg.Error, StoreError) as error:
                # Subscribers look by themselves meanwhile.
                if not self._is_cut_off:
                    self._is_cut_off = True
                    log.warning(
                        "news of runs cannot be heard until the database answers again: %s",
                        type(error).__name__,
                    )
                threading.Event().wait(_TURN)
            else:
                return

    def _look_on(self) -> None:
        told = time.monotonic()
        while not self._is_over():
            threading.Event().wait(_TURN)
            if time.monotonic() - told >= POOLED:
                told = time.monotonic()
                for subscriber in self._list_subscribers(None):
                    subscriber.wake()

    def _listen_once(self) -> None:
        with connect(self._dsn) as connection:
            connection.execute(f"listen {self._channel}")
            self._is_cut_off = False
            for subscriber in self._list_subscribers(None):
                subscriber.wake()  # what happened before is not notified
            while not self._is_over():
                for notify in connection.notifies(timeout=_TURN):
                    self.wake(notify.payload)

"""Stores what has waited for a moment in the savers of a process: a few threads for all of them.

    flushing = Flushing()
    with flushing.watching(saver): …        # saver.flush() every 0.2 seconds

An activation stores what it wrote when it ends.  These threads are for those that take longer, so
that people see an open gate, and followers a call that was begun.  A flush that has to wait, for a row
that somebody holds, holds up no other run.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import psycopg

from cinatra_sdk.errors import FenceLost

log = logging.getLogger("oasflow.store")

PAUSE: Final = 0.2
"""Seconds between two looks at a saver."""
THREADS: Final = 3


class Flushed(Protocol):
    """What is flushed: `cinatra_sdk.store.work.saver.RunSaver`."""

    @property
    def run_id(self) -> str: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Flushing:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._begin_empty()
        self._is_closed = False

    def _begin_empty(self) -> None:
        self._process = os.getpid()
        self._due: dict[Flushed, float] = {}
        """Saver → when it is looked at next."""
        self._busy: set[Flushed] = set()
        self._changed = threading.Condition()
        self._wakes: dict[int, float] = {}
        """Sleeping thread → when it wakes by itself."""
        self._threads: list[threading.Thread] = []

    @contextmanager
    def watching(self, saver: Flushed) -> Iterator[None]:
        if self._process != os.getpid():
            self._begin_empty()  # a fork: neither its parent's threads nor its runs came along
        with self._changed:
            due = self._due[saver] = time.monotonic() + PAUSE
            if len(self._threads) < min(THREADS, len(self._due)):
                self._start_thread()
            # Most activations end before their saver is due: no thread is woken for each of them.
            if all(wakes > due for wakes in self._wakes.values()):
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due.pop(saver, None)
            saver.close()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._flush_on, name="oasflow-flushing", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _flush_on(self) -> None:
        while (saver := self._take_due()) is not None:
            _flush(saver)
            self._give_back(saver)

    def _take_due(self) -> Flushed | None:
        """The saver whose time has come; None: the thread ends."""
        with self._changed:
            was_idle = False
            while not self._is_closed:
                free = [saver for saver in self._due if saver not in self._busy]
                saver = min(free, key=self._due.__getitem__, default=None)
                if saver is not None:
                    wait = self._due[saver] - time.monotonic()
                    if wait <= 0:
                        self._busy.add(saver)
                        return saver
                    was_idle = False
                    self._sleep(wait)
                else:
                    # Once more soon: where activations follow each other, nobody has to wake it.
                    self._sleep(math.inf if was_idle else PAUSE)
                    was_idle = True
        return None

    def _sleep(self, seconds: float) -> None:
        own = threading.get_ident()
        self._wakes[own] = time.monotonic() + seconds
        self._changed.wait(None if seconds == math.inf else seconds)
        del self._wakes[own]

    def _give_back(self, saver: Flushed) -> None:
        with self._changed:
            self._busy.discard(saver)
            if saver in self._due:
                self._due[saver] = time.monotonic() + PAUSE


def _flush(saver: Flushed) -> None:
    try:
        saver.flush()
    except (FenceLost, psycopg.Error):
        # The activation meets the same with its next write, and says so.
        log.debug("a flush of run '%s' was refused", saver.run_id)
    except Exception:
        # The threads store for every run of the process, and go on for the others.
        log.exception("a flush of run '%s' failed", saver.run_id)

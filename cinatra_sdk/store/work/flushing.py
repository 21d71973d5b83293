"""Stores what has waited for a moment in the savers of a process: one thread for all of them.

    flushing = Flushing()
    with flushing.watching(saver): …        # saver.flush() every 0.2 seconds

An activation stores what it wrote when it ends.  This thread is for those that take longer, so that
people see an open gate, and followers a call that was begun.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import psycopg

from cinatra_sdk.errors import FenceLost

if TYPE_CHECKING:
    from cinatra_sdk.store.work.saver import RunSaver

log = logging.getLogger("oasflow.store")

PAUSE: Final = 0.2
"""Seconds between two looks."""


class Flushing:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._savers: set[RunSaver] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @contextmanager
    def watching(self, saver: RunSaver) -> Iterator[None]:
        with self._changed:
            self._savers.add(saver)
            self._start_thread()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._savers.discard(saver)
            saver.close()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _start_thread(self) -> None:
        # Not alive any more in a process that was forked since.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self._flush_on, name="oasflow-flushing", daemon=True
            )
            self._thread.start()

    def _flush_on(self) -> None:
        while savers := self._wait():
            for saver in savers:
                _flush(saver)

    def _wait(self) -> list[RunSaver]:
        """The savers that are at work, a moment after there were some; none: the thread ends."""
        with self._changed:
            while not self._is_closed:
                if not self._savers:
                    self._changed.wait()
                    continue
                self._changed.wait_for(lambda: self._is_closed, PAUSE)
                if self._savers:
                    return list(self._savers)
            return []


def _flush(saver: RunSaver) -> None:
    try:
        saver.flush()
    except (FenceLost, psycopg.Error):
        # The activation meets the same with its next write, and says so.
        log.debug("a flush of run '%s' was refused", saver.run_id)
    except Exception:
        # The thread stores for every run of the process, and goes on for the others.
        log.exception("a flush of run '%s' failed", saver.run_id)

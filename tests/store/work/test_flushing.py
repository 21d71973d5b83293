"""Savers are looked at again and again while their activation lasts, and by nobody after the end."""

from __future__ import annotations

import threading
import time

from cinatra_sdk.store.work.claims import PAUSE, Flushing

ENOUGH = 60.0
"""Seconds that are waited at most for what comes after less than one."""


class Saver:
    """Notes when it is flushed."""

    run_id = "r1"

    def __init__(self, fails: bool = False) -> None:
        self.times: list[float] = []
        self.seen_twice = threading.Event()
        self.is_closed = False
        self._fails = fails

    def flush(self) -> None:
        self.times.append(time.monotonic())
        if len(self.times) >= 3:
            self.seen_twice.set()
        if self._fails:
            raise RuntimeError("no database")

    def close(self) -> None:
        self.is_closed = True


def test_each_saver_is_flushed_with_pauses_as_long_as_it_is_watched() -> None:
    flushing, savers = Flushing(), [Saver(), Saver(fails=True)]
    begun = time.monotonic()
    with flushing.watching(savers[0]), flushing.watching(savers[1]):
        assert all(saver.seen_twice.wait(ENOUGH) for saver in savers)
    flushing.close()
    for saver in savers:
        between = [b - a for a, b in zip([begun, *saver.times], saver.times, strict=False)]
        assert min(between) >= 0.9 * PAUSE
        assert saver.is_closed


def test_no_thread_is_left_after_the_end() -> None:
    flushing, saver = Flushing(), Saver()
    with flushing.watching(saver):
        threads = list(flushing._threads)
        assert saver.seen_twice.wait(ENOUGH)
    flushing.close()
    for thread in threads:
        thread.join(ENOUGH)
    assert [thread.is_alive() for thread in threads] == [False]

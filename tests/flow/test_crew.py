"""Functions that run beside each other, in threads or on an event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from cinatra_sdk.flow.branches.workers import arun_beside, choose_most, run_beside

WAIT = 60
"""Seconds after which a test that waits for something gives it up."""


@pytest.mark.parametrize(
    ("host", "flow", "most"),
    [(None, None, None), (3, None, 3), (None, 40, 40), (3, 40, 3), (40, 3, 3)],
)
def test_the_smaller_of_both_bounds_holds(
    host: int | None, flow: int | None, most: int | None
) -> None:
    config: Any = {} if host is None else {"max_concurrency": host}
    assert choose_most(config, flow) == most


def test_callers_inside_of_callers_never_wait_for_each_other() -> None:
    done, lock = [], threading.Lock()

    def leaf(number: int) -> bool:
        with lock:
            done.append(number)
        return True

    def middle(_number: int) -> bool:
        run_beside(range(4), leaf, most=3)
        return True

    def outer(_number: int) -> bool:
        run_beside(range(4), middle, most=3)
        return True

    run_beside(range(4), outer, most=3)
    assert sorted(done) == sorted([0, 1, 2, 3] * 16)


@pytest.mark.parametrize("who", ["the caller", "another thread"])
def test_what_one_raises_is_raised_when_those_that_have_begun_have_ended(who: str) -> None:
    ended, both = [], threading.Barrier(2)

    def run(number: int) -> bool:
        both.wait(WAIT)  # each of the two threads has one number
        is_caller = threading.current_thread() is threading.main_thread()
        if is_caller == (who == "the caller"):
            raise KeyboardInterrupt
        ended.append(number)
        return True

    with pytest.raises(KeyboardInterrupt):
        run_beside(range(2), run, most=2)
    assert len(ended) == 1


@pytest.mark.parametrize("most", [1, 2])
def test_one_that_says_so_is_the_last_that_begins(most: int) -> None:
    begun: list[int] = []

    def run(number: int) -> bool:
        begun.append(number)
        return number < 2

    async def arun(number: int) -> bool:
        return run(number)

    run_beside(range(100), run, most=1)
    assert begun == [0, 1, 2]
    begun.clear()
    asyncio.run(arun_beside(range(100), arun, most=most))
    assert begun[:3] == [0, 1, 2]
    assert len(begun) <= 2 + most


def test_on_an_event_loop_an_error_cancels_those_that_run() -> None:
    cancelled: list[int] = []

    async def run(number: int) -> bool:
        if number == 1:
            raise ValueError("broken")
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(number)
        return True

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(arun_beside(range(2), run, most=None))
    assert cancelled == [0]

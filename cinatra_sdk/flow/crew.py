"""Functions that run beside each other: in threads, or on the event loop.

    run_beside([0, 1, 2], run, most=2)      run(0) here, run(1) in another thread, run(2) in the first free one

The caller's own thread works, too, and waits for nobody who has not begun.  So nodes inside of nodes
share the threads of the outermost one, and never wait for each other.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Final, TypeAlias

from langchain_core.runnables import RunnableConfig

Run: TypeAlias = Callable[[int], bool]
"""Takes a number; whether to go on with those that have not begun.  In a context of its own."""
ARun: TypeAlias = Callable[[int], Awaitable[bool]]
_THREADS: Final[ContextVar[ThreadPoolExecutor | None]] = ContextVar("oasflow_threads", default=None)


def choose_most(config: RunnableConfig, at_once: int | None) -> int | None:
    """How many branches of a node run at a time; None: nobody has set a bound.

    at_once: the flow's own bound.  The host's `max_concurrency` holds beside it.
    """
    bounds = [one for one in (at_once, config.get("max_concurrency")) if one is not None]
    return min(bounds, default=None)


def run_beside(numbers: Sequence[int], run: Run, *, most: int | None) -> None:
    """Call `run` with each number.

    most: how many at a time; None: as many as the engine runs tasks, four more than there are cores.
    Raises: what `run` raises, when those that have begun have ended; no other one begins then.
    """
    most = min(32, (os.cpu_count() or 1) + 4) if most is None else most
    left = _Left(numbers, run)
    if most == 1 or len(numbers) < 2:
        left.work(copy_context())
        return
    with _borrow_threads(most - 1) as threads:
        helpers = _call_helpers(threads, left, min(most, len(numbers)) - 1)
        try:
            left.work(copy_context())
        finally:
            left.end()
            begun = [one for one in helpers if not one.cancel()]
            wait(begun)
    for one in begun:
        one.result()


class _Left:
    """The numbers that nobody has begun with."""

    def __init__(self, numbers: Sequence[int], run: Run) -> None:
        self._numbers = iter(numbers)
        self._run = run
        self._lock = threading.Lock()
        self._ended = False

    def work(self, context: Context) -> None:
        """Take one number after the other, each in a copy of the context."""
        try:
            while (number := self._take()) is not None:
                if not context.copy().run(self._run, number):
                    self.end()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        self._ended = True

    def _take(self) -> int | None:
        with self._lock:
            return None if self._ended else next(self._numbers, None)


def _call_helpers(threads: ThreadPoolExecutor, left: _Left, count: int) -> list[Future[None]]:
    helpers = []
    for _ in range(count):
        try:
            helpers.append(threads.submit(left.work, copy_context()))
        except RuntimeError:  # those of a node that has ended meanwhile: the caller works alone
            break
    return helpers


@contextmanager
def _borrow_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """The threads of the node around, else new ones."""
    around = _THREADS.get()
    if around is not None:
        yield around
        return
    with ThreadPoolExecutor(count, thread_name_prefix="oasflow-branch") as threads:
        token = _THREADS.set(threads)
        try:
            yield threads
        finally:
            _THREADS.reset(token)


async def arun_beside(numbers: Sequence[int], run: ARun, *, most: int | None) -> None:
    """As `run_beside`, for an event loop; most None: all at a time."""
    running: set[asyncio.Task[bool]] = set()
    try:
        for number in numbers:
            if most is not None and len(running) >= most:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                ended = [one.result() for one in done]
                if not all(ended):
                    break
            running.add(asyncio.ensure_future(run(number)))
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
            for one in done:
                one.result()
    finally:
        for one in running:
            one.cancel()
        if running:
            await asyncio.wait(running)

"""The asynchronous twin of a method: the same code, in a thread of the store's own.

    class Store:
        threads: Threads
        def get(self, run_id: str) -> Run: ...
        aget = in_thread(get)                     # await store.aget("r1")
        awork = in_thread(work, long=True)        # never holds up a short method

Both forms do the same database work with one implementation.  Work on runs and short methods have separate
threads, and neither uses the threads of the host's event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

WORKERS: Final = 8
"""Runs that a store works on at once for its asynchronous twins; further ones wait for their turn."""
SHORT: Final = 4
"""Short methods at once; fewer than the database's connections for them."""


class Threads:
    """The threads of one store; begun when they are needed."""

    def __init__(self, workers: int = WORKERS) -> None:
        """workers: runs that are worked on at once.  Raises: `ValueError` below 1."""
        if workers < 1:
            raise ValueError("workers is at least 1")
        self._workers = workers
        self._lock = threading.Lock()
        self._made: dict[tuple[int, bool], ThreadPoolExecutor] = {}

    def pool(self, *, long: bool) -> Executor:
        # By process: threads do not come along into a process that is forked.
        key = (os.getpid(), long)
        with self._lock:
            if key not in self._made:
                name = "oasflow-work" if long else "oasflow-short"
                self._made[key] = ThreadPoolExecutor(self._workers if long else SHORT, name)
            return self._made[key]

    def close(self) -> None:
        """What has not begun does not begin any more; what has begun is not waited for."""
        with self._lock:
            made, self._made = self._made, {}
        for (process, _), pool in made.items():
            if process == os.getpid():
                pool.shutdown(wait=False, cancel_futures=True)


class _HasThreads(Protocol):
    _threads: Threads


S = TypeVar("S", bound=_HasThreads)


def in_thread(
    method: Callable[Concatenate[S, P], R], *, long: bool = False
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """`method` as a coroutine function with the same parameters and result.

    The method is looked up by name at each call, so that a subclass's override counts.
    """

    @functools.wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        own: Callable[..., R] = getattr(self, method.__name__)
        call = functools.partial(contextvars.copy_context().run, own, *args, **kwargs)
        pool = self._threads.pool(long=long)
        return await asyncio.get_running_loop().run_in_executor(pool, call)

    twin.__name__ = f"a{method.__name__}"
    twin.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.{twin.__name__}".lstrip(".")
    twin.__doc__ = f"As `{method.__name__}`, in a thread."
    return twin

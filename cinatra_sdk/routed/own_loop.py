"""The event loop of routes that await: one per process, in a thread of its own.

    finish(work)           waits for the coroutine without an event loop
    await afinish(work)    waits for it on the caller's loop

Clients of language models keep connections that belong to the loop which opened them.  With one loop
for every route, whoever calls it and however, a connection is never used on another loop.
A forked process makes a loop of its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")
_loops: list[asyncio.AbstractEventLoop] = []
"""Empty, or the one loop."""


class _Turns:
    """Who makes the loop; a forked process starts anew."""

    lock = threading.Lock()


def finish(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of `work`; cancelled where the waiting thread is interrupted."""
    future = _submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def afinish(work: Coroutine[Any, Any, _T]) -> _T:
    """As `finish`, for an event loop; a cancellation reaches the work."""
    return await asyncio.wrap_future(_submit(work))


def _submit(work: Coroutine[Any, Any, _T]) -> Future[_T]:
    # The work sees the caller's context variables: the loop copies the context of whoever submits.
    return asyncio.run_coroutine_threadsafe(work, _ensure_loop())


def _ensure_loop() -> asyncio.AbstractEventLoop:
    with _Turns.lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            # A daemon: a route that hangs must not keep the process from ending.
            thread = threading.Thread(target=loop.run_forever, name="oasflow-routes", daemon=True)
            thread.start()
            _loops.append(loop)
        return _loops[0]


def _forget_after_fork() -> None:
    """The thread of the loop is gone in the child, and another thread may have held the lock."""
    _Turns.lock = threading.Lock()
    _loops.clear()


os.register_at_fork(after_in_child=_forget_after_fork)

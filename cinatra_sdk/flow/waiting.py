"""A node's blocking way to an answer that only an event loop gives."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


def wait_for(make: Callable[[], Awaitable[_T]]) -> _T:
    """What the awaitable gives, on an event loop of its own."""

    async def wait() -> _T:
        return await make()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # The caller's loop runs in this thread and cannot run a second one.  The context goes along:
    # LangGraph keeps the config of the node in it.
    with ThreadPoolExecutor(1) as other:
        return other.submit(contextvars.copy_context().run, asyncio.run, wait()).result()

"""A function that may block, called beside the event loop.

    await call_beside(port.cache_get, ref, "openai")      what it gives, or raises

`asyncio.to_thread` alone will not do for functions of a host: a future takes no StopIteration, so that
on Python 3.11 whoever waits for a function that raised one (a `next` too many) waits for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")


async def call_beside(function: Callable[..., _T], /, *args: Any) -> _T:
    """What the function gives in a thread.

    Raises: what it raises; a StopIteration as `RuntimeError`, as generators and coroutines do.
    """
    return await asyncio.to_thread(_call_without_stop, function, args)


def _call_without_stop(function: Callable[..., _T], args: tuple[Any, ...]) -> _T:
    try:
        return function(*args)
    except StopIteration as error:
        raise RuntimeError("the function raised StopIteration") from error

"""A blocking function, called beside the event loop.

    await call_beside(port.cache_get, ref, "openai")      the function's result, or its error

`asyncio.to_thread` alone is not enough for functions of a host: a future takes no StopIteration.  So on
Python 3.11 a caller would wait for ever for a function that raised one (a `next` too many).
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

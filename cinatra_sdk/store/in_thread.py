"""The asynchronous twin of a method: the same code, in a thread.

    class Store:
        def get(self, run_id: str) -> Run: ...
        aget = in_thread(get)              # await store.aget("r1")

Both forms do the same database work with one implementation.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def in_thread(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """`method` as a coroutine function with the same parameters and result.

    The method is looked up by name at each call, so that a subclass's override counts.
    """

    @functools.wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        own: Callable[..., R] = getattr(self, method.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    twin.__name__ = f"a{method.__name__}"
    twin.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.{twin.__name__}".lstrip(".")
    twin.__doc__ = f"As `{method.__name__}`, in a thread."
    return twin

"""The one place that uses a part of LangGraph that is not public.

`StateGraph.add_node` takes a function or a coroutine function, not both; without both, a node
either blocks the event loop or pays for a thread at every step.  LangGraph wraps nodes in its own
`RunnableCallable`, which takes both, injects `config` and `runtime`, and lets Studio find a
subgraph inside.  A contract test (tests/lower/test_engine.py) fails when it changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import Runnable
from langgraph._internal._runnable import RunnableCallable
from langgraph.func import task


def node_runnable(
    name: str, run: Callable[..., Any], arun: Callable[..., Awaitable[Any]] | None
) -> Runnable[Any, Any]:
    """A node from its synchronous and asynchronous form.

    `arun` None: the node only computes, and runs in the event loop itself.
    """
    if arun is None:

        async def arun(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

    # recurse=False: no node returns a Runnable to be run in its place.
    return RunnableCallable(run, arun, name=name, trace=False, recurse=False)


def begin_task(name: str, run: Callable[[], Any]) -> Any:
    """Begin a LangGraph task in the running node; a future of its result.

    `run` is a function, or a coroutine function in a node that runs on an event loop.
    """
    begin: Any = task(name=name)  # typed for functions, and takes coroutine functions too
    return begin(run)()

"""What happens in one activation of a graph, as an iterator; no store is needed.

    for event in stream_events(graph, start, config, context):
        event                        RunEvent(seq=1, kind="node", name="started", …)
    the last one                     RunEvent(kind="run", name="completed", data={"outputs": {…}})

The graph runs in a thread (or task) of its own.  Whoever stops reading changes nothing: the activation
goes on to its end.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from cinatra_sdk.engine.runtime_context import HostContext, listening
from cinatra_sdk.events.event import RunEvent

Graph = CompiledStateGraph[Any, Any, Any, Any]
_TASKS: Final[set[asyncio.Task[None]]] = set()
"""Activations whose readers may have gone away; the loop itself keeps no task alive."""


def stream_events(
    graph: Graph, start: Any, config: RunnableConfig, context: HostContext
) -> Generator[RunEvent]:
    """start: the input, or LangGraph's `Command(resume=…)`.

    Raises: what the graph raises, after the events that led there.
    """
    told: queue.SimpleQueue[RunEvent | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            host = listening(context, told.put)
            result = graph.invoke(start, config, context=host, durability=_choose_durability(graph))
            told.put(_tell_stop(result))
        except BaseException as error:  # noqa: BLE001 - raised where the events are read
            told.put(error)
        else:
            told.put(None)

    inside = contextvars.copy_context()
    threading.Thread(target=inside.run, args=(work,), name="oasflow-stream", daemon=True).start()
    number = _make_numbering(context)
    while (event := told.get()) is not None:
        if isinstance(event, BaseException):
            raise event
        yield number(event)


async def astream_events(
    graph: Graph, start: Any, config: RunnableConfig, context: HostContext
) -> AsyncGenerator[RunEvent]:
    """As `stream_events`, on the running event loop."""
    told: asyncio.Queue[RunEvent | BaseException | None] = asyncio.Queue()
    tell = _make_threadsafe(told)

    async def work() -> None:
        try:
            host = listening(context, tell)
            result = await graph.ainvoke(
                start, config, context=host, durability=_choose_durability(graph)
            )
            tell(_tell_stop(result))
        except BaseException as error:  # noqa: BLE001 - raised where the events are read
            tell(error)
        else:
            tell(None)

    task = asyncio.create_task(work())
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)
    number = _make_numbering(context)
    while (event := await told.get()) is not None:
        if isinstance(event, BaseException):
            raise event
        yield number(event)


def _make_threadsafe(told: asyncio.Queue[Any]) -> Callable[[Any], None]:
    loop = asyncio.get_running_loop()

    def tell(event: Any) -> None:
        loop.call_soon_threadsafe(told.put_nowait, event)

    return tell


def _make_numbering(context: HostContext) -> Callable[[RunEvent], RunEvent]:
    numbers = count(1)

    def number(event: RunEvent) -> RunEvent:
        return replace(event, run_id=context.run_id, seq=next(numbers))

    return number


def _choose_durability(graph: Graph) -> Any:
    # Each step is stored before the next begins; without a checkpointer there is nothing to say.
    return "sync" if graph.checkpointer else None


def _tell_stop(result: Mapping[str, Any] | None) -> RunEvent:
    """Where the run stands: ended, or waiting at its gates."""
    values = result or {}
    if values.get("__interrupt__"):
        return RunEvent(kind="run", name="waiting")
    status = str(values.get("status") or "stopped")
    data = {"outputs": values.get("outputs")} if status == "completed" else {}
    return RunEvent(kind="run", name=status, data=data)

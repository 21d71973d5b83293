"""Tools of every kind of callable, called with and without a running event loop."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as langchain_tool

from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from oas_compiler.lower.flow import Flow
from tests.flows import end, flow_of, port, start, tool


async def plus_one(a: int) -> int:
    await asyncio.sleep(0)
    return a + 1


class Adder:
    async def __call__(self, a: int) -> int:
        return await plus_one(a)


class Pending:
    """An awaitable that is no coroutine."""

    def __init__(self, a: int) -> None:
        self._a = a

    def __await__(self) -> Any:
        return plus_one(self._a).__await__()


def pending(a: int) -> Pending:
    return Pending(a)


def coroutine(a: int) -> Any:
    return plus_one(a)


@langchain_tool
def lc_plain(a: int) -> int:
    """One more."""
    return a + 1


@langchain_tool
async def lc_async(a: int) -> int:
    """One more, later."""
    return await plus_one(a)


class LcOwn(BaseTool):
    """A tool with both ways of its own."""

    name: str = "own"
    description: str = "One more."

    def _run(self, a: int) -> int:
        return a + 1

    async def _arun(self, a: int) -> int:
        return await plus_one(a)


KINDS: dict[str, Any] = {
    "a tool of LangChain": lc_plain,
    "an async tool of LangChain": lc_async,
    "a tool of LangChain of a class": LcOwn(),
    "a plain function": lambda a: a + 1,
    "an async function": plus_one,
    "a partial of an async function": functools.partial(plus_one),
    "an object with an async call": Adder(),
    "a function that returns a coroutine": coroutine,
    "a function that returns an awaitable": pending,
}
kinds = pytest.mark.parametrize("compute", KINDS.values(), ids=KINDS.keys())


def flow_with(compute: Callable[..., Any]) -> Flow:
    out = port("out", "integer")
    return compile_flow(
        flow_of(
            start(port("a", "integer", default=1)),
            tool("compute", "compute", [port("a", "integer")], [out]),
            end(out),
            edges=[("start", "a", "compute", "a"), ("compute", "out", "end", "out")],
        ),
        tools={"compute": compute},
    )


def called(flow: Flow, **context: Any) -> Any:
    graph = flow.graph()
    given = host_context(run_id="r", **context)
    return graph.invoke(flow.input({}), flow.config(run_id="r"), context=given)["outputs"]


@kinds
def test_any_callable_is_a_tool(compute: Callable[..., Any]) -> None:
    assert called(flow_with(compute)) == {"out": 2}


@kinds
def test_any_callable_is_a_tool_inside_a_running_loop(compute: Callable[..., Any]) -> None:
    async def host() -> Any:
        return called(flow_with(compute)), drive(flow_with(compute)).outputs

    assert asyncio.run(host()) == ({"out": 2}, {"out": 2})


@kinds
def test_any_callable_is_a_tool_of_an_asynchronous_graph(compute: Callable[..., Any]) -> None:
    async def host() -> Any:
        flow = flow_with(compute)
        config, context = flow.config(run_id="r"), flow.context(run_id="r")
        return await flow.graph().ainvoke(flow.input({}), config, context=context)

    assert asyncio.run(host())["outputs"] == {"out": 2}


def test_an_asynchronous_graph_awaits_its_tools_on_the_callers_loop() -> None:
    loops = []

    class Watcher:
        async def __call__(self, a: int) -> int:
            loops.append(asyncio.get_running_loop())
            return a

    async def host() -> Any:
        flow = flow_with(Watcher())
        config, context = flow.config(run_id="r"), flow.context(run_id="r")
        await flow.graph().ainvoke(flow.input({}), config, context=context)
        return asyncio.get_running_loop()

    assert loops == [asyncio.run(host())]


async def refuses(a: int) -> int:
    raise LookupError("no such row")


def hands_back(a: int) -> Any:
    return refuses(a)


@pytest.mark.parametrize("compute", [refuses, hands_back])
def test_an_asynchronous_tool_that_raises_inside_a_loop_fails_its_node(compute: Any) -> None:
    async def host() -> Any:
        return drive(flow_with(compute))

    failed = asyncio.run(host())
    assert failed.status == "failed"
    assert "node 'compute': tool 'compute' raised LookupError: no such row" in str(failed.error)


def stops(a: int) -> int:
    return next(number for number in range(a) if number > a)


async def loses_its_own_task(a: int) -> int:
    task = asyncio.create_task(asyncio.sleep(3600))
    task.cancel()
    await task
    return a


@pytest.mark.parametrize(
    ("compute", "kind"), [(stops, "StopIteration"), (loses_its_own_task, "CancelledError")]
)
def test_what_python_uses_to_stop_itself_fails_the_node(compute: Any, kind: str) -> None:
    failed = asyncio.run(asyncio.wait_for(adrive(flow_with(compute)), 20))
    assert failed.status == "failed"
    assert f"node 'compute': tool 'compute' raised {kind}" in str(failed.error)


def test_a_run_that_is_cancelled_cancels_its_tool() -> None:
    begun = asyncio.Event()

    async def waits(a: int) -> int:
        begun.set()
        await asyncio.Event().wait()
        return a

    async def host() -> None:
        flow = flow_with(waits)
        config, context = flow.config(run_id="r"), flow.context(run_id="r")
        run = asyncio.create_task(flow.graph().ainvoke(flow.input({}), config, context=context))
        await begun.wait()
        run.cancel()
        await run

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(host())


def gives(result: Any, *outputs: dict[str, Any]) -> Any:
    """What a run ends with whose one tool gives `result`."""
    made = flow_of(
        start(),
        tool("give", "give", [], list(outputs)),
        end(*outputs),
        edges=[("give", one["title"], "end", one["title"]) for one in outputs],
    )
    return drive(compile_flow(made, tools={"give": lambda: result}))


def test_tuples_and_mappings_anywhere_in_a_result_are_lists_and_objects() -> None:
    pairs = port("pairs", "array", items={"type": "array", "items": {"type": "integer"}})
    assert gives([(1, 2), (3,)], pairs).outputs == {"pairs": [[1, 2], [3]]}
    anything = {"title": "anything"}
    nested = {"a": (1, MappingProxyType({"b": (2,)}))}
    assert gives(nested, anything).outputs == {"anything": {"a": [1, {"b": [2]}]}}


def test_governed_keys_are_dropped_from_tuples_too() -> None:
    outputs = (port("a", "integer"), port("b", "object"))
    found = gives((1, {"k": 1, "approval_policy": {"steps": []}}), *outputs)
    assert found.outputs == {"a": 1, "b": {"k": 1}}


def _holding_itself() -> Any:
    made: dict[str, Any] = {}
    made["again"] = [made]
    return made


def test_a_result_that_holds_itself_fails_the_node() -> None:
    failed = gives(_holding_itself(), port("out", "object"))
    assert failed.status == "failed"
    assert "node 'give': what tool 'give' returned is nested deeper than 64" in str(failed.error)


def test_the_host_is_asked_before_a_tool_is_called() -> None:
    order: list[str] = []

    def compute(a: int) -> int:
        order.append("tool")
        return a

    called(
        flow_with(compute), before_effect=lambda effect: order.append(f"host: {effect.capability}")
    )
    assert order == ["host: compute", "tool"]

"""Tools of every kind of callable, called with and without a running event loop."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as langchain_tool

from cinatra_sdk.engine.runtime_context import host_context
from cinatra_sdk.testing import drive
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


def test_the_host_is_asked_before_a_tool_is_called() -> None:
    order: list[str] = []

    def compute(a: int) -> int:
        order.append("tool")
        return a

    called(
        flow_with(compute), before_effect=lambda effect: order.append(f"host: {effect.capability}")
    )
    assert order == ["host: compute", "tool"]

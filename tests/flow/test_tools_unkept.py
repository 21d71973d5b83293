"""Functions of this process share a superstep where no checkpoints are kept and nobody traces."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from cinatra_sdk.errors import FlowError
from cinatra_sdk.flow.visit import fusion
from cinatra_sdk.testing import sampled_inputs
from oas_compiler import CompileError, Flow, compile_flow
from tests.flow.random_flows import counting_tools, random_flow
from tests.flow.test_fusing import with_tools
from tests.flows import branching, end, flow_of, message, node, port, start, tool

LONG_ENOUGH = "x" * 30


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes, however busy the machine is."""
    monkeypatch.setattr(fusion, "monotonic", lambda: 0.0)


def loop(**host: Any) -> Flow:
    """A tool adds a letter, until the text has thirty."""
    document = flow_of(
        start(port("n", default="")),
        tool("add", "add", [port("n")], [port("n")]),
        branching("way", port("key"), {LONG_ENOUGH: "done"}),
        end(port("n")),
        edges=[
            ("start", "n", "add", "n"),
            ("add", "n", "add", "n"),
            ("add", "n", "way", "key"),
            ("add", "n", "end", "n"),
        ],
        routes=[
            ("start", None, "add"),
            ("add", None, "way"),
            ("way", "default", "add"),
            ("way", "done", "end"),
        ],
    )
    return compile_flow(document, **{"tools": {"add": lambda n: n + "x"}, **host})


def list_supersteps(flow: Flow, saver: Any = None, **config: Any) -> list[str]:
    """The node that each update of the stream is told of."""
    given = {**flow.config(run_id="r1"), **config}
    updates = flow.graph(saver).stream(flow.input({}), given, stream_mode="updates")
    return [name for update in updates for name in update]


def test_a_loop_of_tools_takes_one_superstep_where_nothing_is_kept() -> None:
    assert list_supersteps(loop()) == ["start"]


def test_each_call_has_its_own_superstep_where_checkpoints_are_kept() -> None:
    assert list_supersteps(loop(), InMemorySaver()) == ["start", *["add"] * 30]


def test_each_call_has_its_own_superstep_without_fusing() -> None:
    assert list_supersteps(loop(fuse=False)).count("add") == 30


def test_a_call_behind_slow_ones_has_its_own_superstep(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(fusion, "monotonic", lambda: next(clock))
    assert list_supersteps(loop()) == ["start", *["add"] * 30]


def test_callbacks_are_told_of_every_call() -> None:
    names: list[str] = []

    class Tracer(BaseCallbackHandler):
        def on_chain_start(self, _serialized: Any, _inputs: Any, **about: Any) -> None:
            names.append(about.get("name", ""))

    list_supersteps(loop(), callbacks=[Tracer()])
    assert names.count("add") == 30


def test_inside_a_node_of_a_kept_graph_each_call_has_its_own_superstep() -> None:
    flow, seen = loop(), []

    def run(_state: Any) -> dict[str, Any]:
        inner = flow.graph()
        seen.extend(inner.stream(flow.input({}), stream_mode="updates"))
        return {}

    outer: Any = StateGraph(TypedDict("Outer", {"x": str}))
    outer.add_node("run", run)
    outer.add_edge(START, "run")
    outer.compile(checkpointer=InMemorySaver()).invoke({"x": ""}, flow.config(run_id="r1"))
    assert sum("add" in update for update in seen) == 30


def far_reading() -> dict[str, Any]:
    """The second tool reads an output that the node before it does not."""
    two = [port("a"), port("b")]
    return flow_of(
        start(port("topic", default="t")),
        tool("first", "first", [port("topic")], [port("a")]),
        tool("second", "second", [port("topic")], [port("b")]),
        message("say", "{{ b }}", port("b")),
        tool("third", "third", two, [port("c")]),
        end(port("c")),
        edges=[
            ("start", "topic", "first", "topic"),
            ("start", "topic", "second", "topic"),
            ("second", "b", "say", "b"),
            ("first", "a", "third", "a"),
            ("second", "b", "third", "b"),
            ("third", "c", "end", "c"),
        ],
    )


@pytest.mark.parametrize("fuse", [True, False])
def test_a_tool_reads_what_any_node_before_it_wrote(fuse: bool) -> None:
    tools = {
        "first": lambda topic: topic + "1",
        "second": lambda topic: topic + "2",
        "third": lambda a, b: a + b,
    }
    flow = compile_flow(far_reading(), tools=tools, fuse=fuse)
    result = flow.graph().invoke(flow.input({}), flow.config(run_id="r1"))
    assert result["outputs"] == {"c": "t1t2"}
    assert [one.content for one in result["messages"]] == ["t2"]


def test_a_tool_that_fails_is_called_once_and_named() -> None:
    calls: list[str] = []

    def add(n: str) -> str:
        calls.append(n)
        if n == "xx":
            raise ValueError("no more letters")
        return n + "x"

    flow = loop(tools={"add": add})
    with pytest.raises(FlowError, match="tool 'add' raised ValueError: no more letters") as raised:
        flow.graph().invoke(flow.input({}), flow.config(run_id="r1"))
    assert raised.value.node == "add"
    assert calls == ["", "x", "xx"]


def test_a_node_that_fails_behind_a_tool_does_not_call_it_again() -> None:
    calls: list[str] = []

    def add(n: str) -> str:
        calls.append(n)
        return n + "x"

    cut = node(
        "PluginTemplateNode", "cut", template="{{ n[7] }}", inputs=[port("n")], outputs=[port("o")]
    )
    document = flow_of(
        start(),
        tool("add", "add", [port("n", default="")], [port("n")]),
        cut,
        end(),
        edges=[("add", "n", "cut", "n")],
    )
    flow = compile_flow(document, tools={"add": add})
    with pytest.raises(FlowError, match="node 'cut': template"):
        flow.graph().invoke(flow.input({}), flow.config(run_id="r1"))
    assert calls == [""]


def test_a_tool_that_asks_shows_its_question_and_is_called_once() -> None:
    calls: list[str] = []

    def add(n: str) -> str:
        calls.append(n)
        if n == "x":
            interrupt({"question": "go on?"})
        return n + "x"

    flow = loop(tools={"add": add})
    result = flow.graph().invoke(flow.input({}), flow.config(run_id="r1"))
    (asked,) = result["__interrupt__"]
    assert "go on?" in str(asked.value)
    assert calls == ["", "x"]


def test_a_secret_of_the_host_is_cut_out_of_a_tools_error() -> None:
    def add(n: str) -> str:
        raise ValueError(f"the key is s3cr3t-key {n}")

    flow = loop(tools={"add": add})
    context = flow.context(run_id="r1", run_token="s3cr3t-key")
    with pytest.raises(FlowError) as raised:
        flow.graph().invoke(flow.input({}), flow.config(run_id="r1"), context=context)
    assert "s3cr3t-key" not in str(raised.value)


def test_a_loop_without_an_end_takes_no_more_steps_than_a_run_may() -> None:
    flow = loop(tools={"add": lambda n: n}, max_steps=20)
    with pytest.raises(FlowError, match="has taken 20 steps without an end"):
        flow.graph().invoke(flow.input({}), flow.config(run_id="r1"))


def tell(flow: Flow, tools: Mapping[str, Any]) -> list[Any]:
    """The events of a run without checkpoints, and its error."""
    told: list[Any] = []
    lent = with_tools(flow, tools)
    try:
        for event in lent.stream(sampled_inputs(flow), run_id="r1"):
            told += [(event.kind, event.name, event.path, event.visit, dict(event.data))]
    except FlowError as error:
        told.append((type(error), str(error)))
    return told


def test_random_flows_tell_the_same_where_nothing_is_kept() -> None:
    first = random.SystemRandom().randrange(10**9)
    print(f"seed {first}")
    ends: set[Any] = set()
    for seed in range(first, first + 60):
        document = random_flow(seed, asks=False)
        try:
            flow = compile_flow(document, tools=counting_tools(), max_steps=40)
        except CompileError:
            continue
        fused, plain = [tell(replace(flow, fuse=fuse), counting_tools()) for fuse in (True, False)]
        assert fused == plain, f"seed {seed}"
        ends.add(fused[-1][0])
    assert len(ends) > 1, "the control: some runs end, and some fail"


def test_an_event_loop_runs_a_loop_of_tools_in_one_superstep() -> None:
    async def add(n: str) -> str:
        return n + "x"

    flow = loop(tools={"add": add})

    async def run() -> list[str]:
        stream = flow.graph().astream(
            flow.input({}), flow.config(run_id="r1"), stream_mode="updates"
        )
        return [name async for update in stream for name in update]

    assert asyncio.run(run()) == ["start"]

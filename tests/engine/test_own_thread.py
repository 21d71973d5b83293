"""An answer that names no gate is for the gate that waits, and for no later one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from cinatra_sdk.activations import stop_of
from cinatra_sdk.langgraph_threads.graph_input import on_own_threads
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flow.containers import around, checked_item, mapped
from tests.flows import end, flow_node, flow_of, port, start

CONFIG: Any = {"configurable": {"thread_id": "t1"}}
YES = {"approved": True, "by": "ann"}
NOBODY = "0" * 32


def inside() -> Any:
    child = flow_node("child", checked_item(gates=3)) | {
        "inputs": [port("x")], "outputs": [port("y")],
    }  # fmt: skip
    edges = [("start", "x", "child", "x"), ("child", "y", "end", "y")]
    return flow_of(start(port("x", default="0")), child, end(port("y")), edges=edges)


FLOWS: dict[str, Callable[[], Any]] = {
    "in a subflow": inside,
    "in a branch": lambda: around(mapped(checked_item(gates=3)), items=1),
    "in branches one after the other": lambda: around(
        mapped(checked_item(), kind="MapNode"), items=3
    ),
}
THEN: dict[str, Any] = {
    "go on": None,
    "an answer to nobody": Command(resume={NOBODY: {"approved": False}}),
    "a further input": {"inputs": {}},
}


def begin(made: Any, *, on_threads: bool = True, fuse: bool = True) -> Any:
    platform = SimulatedPlatform({"draft": {"d": "d"}, "send": {"sent": "s"}})
    flow = compile_flow(made, platform=platform)
    graph = flow.graph(InMemorySaver(), fuse=fuse)
    if on_threads:
        graph = on_own_threads(graph, pin=flow.pin)
    graph.invoke({"inputs": {}}, CONFIG)
    return graph


def test_without_the_class_of_ours_one_answer_passes_every_gate() -> None:
    # Control: the engine's own graph.
    flow = compile_flow(FLOWS["in a subflow"]())
    graph = flow.graph(InMemorySaver())
    plain: Any = CompiledStateGraph(**{key: value for key, value in graph.__dict__.items() if key != "picture"})  # fmt: skip
    plain.invoke({"inputs": {}}, CONFIG)
    plain.invoke(Command(resume=YES), CONFIG)
    plain.invoke(None, CONFIG)
    plain.invoke(None, CONFIG)
    assert waiting(plain) == []


def waiting(graph: Any) -> list[str]:
    return [gate.id for gate in stop_of(graph.get_state(CONFIG)).gates]


def invoke(graph: Any, given: Any, *, on_a_loop: bool) -> None:
    if on_a_loop:
        asyncio.run(graph.ainvoke(given, CONFIG))
    else:
        graph.invoke(given, CONFIG)


@pytest.mark.parametrize("made", FLOWS)
@pytest.mark.parametrize("then", THEN)
@pytest.mark.parametrize("on_a_loop", [False, True], ids=["plain", "on a loop"])
@pytest.mark.parametrize("on_threads", [True, False], ids=["served", "as compiled"])
def test_an_answer_without_an_id_is_not_given_again(
    made: str, then: str, *, on_a_loop: bool, on_threads: bool
) -> None:
    graph = begin(FLOWS[made](), on_threads=on_threads)
    (first,) = waiting(graph)
    invoke(graph, Command(resume=YES), on_a_loop=on_a_loop)
    (second,) = waiting(graph)
    assert second != first
    invoke(graph, THEN[then], on_a_loop=on_a_loop)
    assert waiting(graph) == [second]


@pytest.mark.parametrize("made", FLOWS)
def test_an_answer_without_an_id_is_not_given_beside_one_with_an_id(made: str) -> None:
    graph = begin(FLOWS[made]())
    graph.invoke(Command(resume=YES), CONFIG)
    (asked,) = graph.get_state(CONFIG).interrupts
    graph.invoke(Command(resume={asked.id: YES}), CONFIG)
    assert len(waiting(graph)) == 1


@pytest.mark.parametrize("made", FLOWS)
@pytest.mark.parametrize("fuse", [True, False], ids=["fused", "not fused"])
@pytest.mark.parametrize("on_threads", [True, False], ids=["served", "as compiled"])
def test_answers_without_ids_go_to_one_gate_each(
    made: str, *, fuse: bool, on_threads: bool
) -> None:
    graph = begin(FLOWS[made](), fuse=fuse, on_threads=on_threads)
    for _ in range(3):
        assert len(waiting(graph)) == 1
        graph.invoke(Command(resume=YES), CONFIG)
    assert stop_of(graph.get_state(CONFIG)).status == "completed"

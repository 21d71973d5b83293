"""How often a node with a graph inside looks at the thread: only as often as safety needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.types import Command

from cinatra_sdk.blocks.host_node import gate_once, keep_decision, seal_host_fields, terminal_node
from cinatra_sdk.blocks.inner_graph import subgraph
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.lineage import may_act
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.attacks.nested import (
    CONFIG,
    INTO,
    POLICY,
    Inner,
    Input,
    Outer,
    asking,
    in_a_row,
)  # fmt: skip
from tests.flows import api, end, flow_node, flow_of, gate, message, port, start


class Counting(InMemorySaver):
    """Notes every question about a thread: which namespace, and whether values were made."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def list(self, config: Any, **more: Any) -> Iterator[Any]:
        namespace = config["configurable"].get("checkpoint_ns")
        self.asked.append("every" if namespace is None else "inside" if namespace else "outside")
        return super().list(config, **more)

    async def alist(self, config: Any, **more: Any) -> AsyncIterator[Any]:
        for kept in self.list(config, **more):
            yield kept


def asked_of(graph: Any, saver: Counting, given: Any, *, on_a_loop: bool) -> list[str]:
    saver.asked.clear()
    if on_a_loop:
        asyncio.run(graph.ainvoke(given, CONFIG, durability="sync"))
    else:
        graph.invoke(given, CONFIG, durability="sync")
    return list(saver.asked)


def approval(graph: Any) -> Command[Any]:
    (waiting,) = graph.get_state(CONFIG).interrupts
    return Command(resume={waiting.id: {"approved": True}})


INSIDE = {
    "computing": [message("note", "hello")],
    "calls": [api("draft")],
    "gates": [gate("review")],
    "calls and gates": [api("draft"), gate("review")],
}
ENTRY = ["outside"]
"""Of this graph, on behalf of the nodes inside that act."""
BEGUN = ["inside", "outside"]
"""Whether the graph inside has begun under this task, and whether the node had its turn before."""
CALL = ["inside"]
"""Of a call inside, the first of its line."""
LEAVE = ["inside"]
"""Of what a gate inside let through."""
FIRST = {
    "computing": [],
    "calls": [*ENTRY, *BEGUN, *CALL],
    "gates": BEGUN,
    "calls and gates": [*ENTRY, *BEGUN, *CALL],
}
RESUMED = {
    "gates": [BEGUN[0], *LEAVE],
    "calls and gates": [*ENTRY, BEGUN[0], *LEAVE],
}


@pytest.mark.parametrize("on_a_loop", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("inside", INSIDE)
def test_a_flow_node_looks_only_for_what_stands_inside(inside: str, on_a_loop: bool) -> None:
    below = flow_of(start(), *INSIDE[inside], end(), id_="inner")
    flow = compile_flow(flow_of(start(), flow_node("child", below), end()))
    saver = Counting()
    graph = flow.graph(saver)
    assert asked_of(graph, saver, {"inputs": {}}, on_a_loop=on_a_loop) == FIRST[inside]
    if inside in RESUMED:
        answer = approval(graph)
        assert asked_of(graph, saver, answer, on_a_loop=on_a_loop) == RESUMED[inside]
    assert graph.get_state(CONFIG).values["status"] == "completed"


def test_a_flow_node_knows_what_stands_at_any_depth_inside() -> None:
    deep = flow_of(start(), api("draft"), gate("review"), end(), id_="deep")
    middle = flow_of(start(), flow_node("level", deep), end(), id_="middle")
    saver = Counting()
    flow = compile_flow(flow_of(start(), flow_node("child", middle), end()))
    graph = flow.graph(saver)
    asked_of(graph, saver, {"inputs": {}}, on_a_loop=False)
    resumed = asked_of(graph, saver, approval(graph), on_a_loop=False)
    # Of the node outside and of the one inside: its own line, whether it has begun, and at the end.
    assert sorted(resumed) == ["inside"] * 5 + ["outside"]


@pytest.mark.parametrize("on_a_loop", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("inside", ["gates", "calls and gates"])
def test_a_subgraph_block_looks_only_for_what_stands_inside(inside: str, on_a_loop: bool) -> None:
    saver = Counting()
    graph = by_hand(saver, calls="calls" in inside)
    first = asked_of(graph, saver, {"topic": "x"}, on_a_loop=on_a_loop)
    begun = ["inside", "every"]
    assert first == ([*ENTRY, *begun, *CALL] if "calls" in inside else begun)
    resumed = asked_of(graph, saver, approval(graph), on_a_loop=on_a_loop)
    assert resumed == RESUMED[inside]


def by_hand(saver: Any, *, calls: bool) -> Any:
    keep = keep_decision("review_decision", node="review", step_number=1)
    review = gate_once("review_decision", build_hitl_gate(step_number=1, node="review", write=keep))
    nodes = {
        "host": seal_host_fields(POLICY),
        **({"draft": asking(SimulatedPlatform(), "draft")} if calls else {}),
        "review": review,
        "terminal": terminal_node(requires=("review_decision",)),
    }
    builder = StateGraph(Inner, context_schema=HostContext, input_schema=Input)
    inner = in_a_row(builder, nodes).compile()
    block = subgraph(
        inner, node="child", inputs={"topic": "x"}, sealed=True,
        outputs={"text": "x", "decision": "{{ review_decision }}"}, into=INTO,
    )  # fmt: skip
    around = {
        "host": seal_host_fields(POLICY),
        "child": block,
        "terminal": terminal_node(requires=("child_decision",)),
    }
    builder = StateGraph(Outer, context_schema=HostContext, input_schema=Input)
    return in_a_row(builder, around).compile(checkpointer=saver)


def test_a_graph_may_act_unless_all_of_its_nodes_are_known_not_to() -> None:
    def compiled(*nodes: Any) -> Any:
        return compile_flow(flow_of(start(port("topic", default="x")), *nodes, end())).graph()

    assert not may_act(compiled(message("note", "hello"), gate("review")))
    assert may_act(compiled(api("draft")))
    deep = flow_of(start(), api("draft"), end(), id_="deep")
    quiet = flow_of(start(), gate("review"), end(), id_="deep")
    assert may_act(compiled(flow_node("child", deep)))
    assert not may_act(compiled(flow_node("child", quiet)))
    assert not may_act(by_hand(None, calls=False))
    assert may_act(by_hand(None, calls=True))


def test_a_strangers_node_may_act() -> None:
    builder = StateGraph(Inner, context_schema=HostContext, input_schema=Input)
    nodes: Any = {"host": seal_host_fields(POLICY), "mine": lambda _state: {}}
    assert may_act(in_a_row(builder, nodes).compile())

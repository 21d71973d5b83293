"""Shapes that every runtime of Agent Spec can run: no node of a plugin is in them.

| shape | the OAS flow | by hand |
|---|---|---|
| choices | BranchingNodes, one after the other | nodes with a router behind each |
| loop of tools | a tool that adds a letter and a BranchingNode, until the text is long enough | a node and a router |
| fan-out of choices | a ParallelMapNode over a flow of one BranchingNode | `Send` to a node that hands on what it is given |
| fan-out of tools | a ParallelMapNode over a flow that calls a Python tool | `Send` to a node that does the same |

The adapter has no ParallelMapNode and is given a MapNode in its place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from benchmarks.documents import GROWN, PORTS, TEXT, fan_document, flow_document, node_document

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One shape of one size."""

    document: Json
    graph: Any
    """The same, written by hand; not yet compiled."""
    inputs: Json
    output: str
    """Of the flow; by hand, the key of the state."""
    tools: Json


def make_choices(size: int) -> Shape:
    names = [f"way{number}" for number in range(size)]
    line = ["start", *names, "end"]
    document = flow_document(
        node_document("StartNode", "start", inputs=[GROWN]),
        *(
            node_document("BranchingNode", name, mapping={"never": "other"}, inputs=[{"title": "key", **TEXT}])
            for name in names
        ),
        node_document("EndNode", "end", outputs=[GROWN]),
        control=[
            ("start", None, names[0]),
            *((name, "default", after) for name, after in zip(names, line[2:], strict=True)),
            *((name, "other", "end") for name in names),
        ],
        data=[*(("start", "n", name, "key") for name in names), ("start", "n", "end", "n")],
    )  # fmt: skip
    graph: Any = StateGraph(TypedDict("Grown", {"n": str}))
    for name, after in zip(names, line[2:], strict=True):
        graph.add_node(name, lambda _state: {})
        following = END if after == "end" else after
        graph.add_conditional_edges(name, _make_router(following), [following, END])
    graph.add_edge(START, names[0])
    return Shape(document=document, graph=graph, inputs={"n": "x"}, output="n", tools={})


def _make_router(after: str) -> Callable[[Any], str]:
    return lambda state: END if state["n"] == "never" else after


def make_loop(size: int) -> Shape:
    tool = _make_tool("add", "add", inputs=[GROWN], outputs=[GROWN])
    document = flow_document(
        node_document("StartNode", "start", inputs=[GROWN]),
        tool,
        node_document("BranchingNode", "way", inputs=[{"title": "key", **TEXT}], mapping={"x" * size: "done"}),
        node_document("EndNode", "end", outputs=[GROWN]),
        control=[("start", None, "add"), ("add", None, "way"), ("way", "default", "add"), ("way", "done", "end")],
        data=[
            ("start", "n", "add", "n"), ("add", "n", "add", "n"), ("add", "n", "way", "key"),
            ("add", "n", "end", "n"),
        ],
    )  # fmt: skip
    graph: Any = StateGraph(TypedDict("Grown", {"n": str}))
    graph.add_node("add", lambda state: {"n": state["n"] + "x"})
    graph.add_edge(START, "add")
    graph.add_conditional_edges("add", lambda state: END if state["n"] == "x" * size else "add")
    add: Any = lambda n: n + "x"  # noqa: E731 - as short as the node by hand
    return Shape(document=document, graph=graph, inputs={"n": ""}, output="n", tools={"add": add})


def make_fan_of_choices(size: int) -> Shape:
    choice = node_document(
        "BranchingNode", "work", inputs=[{"title": "key", **TEXT}], mapping={"never": "other"}
    )
    document = fan_document(
        choice,
        control=[("begin", None, "work"), ("work", "default", "finish"), ("work", "other", "finish")],
        data=[("begin", "x", "work", "key"), ("begin", "x", "finish", "y")],
    )  # fmt: skip
    return _make_fan(size, document, lambda x: x)


def make_fan_of_tools(size: int) -> Shape:
    return _make_fan(
        size, fan_document(_make_tool("work", "work", **PORTS)), lambda x: f"about {x}"
    )


def _make_tool(own: str, name: str, **ports: Any) -> Json:
    tool = {"component_type": "ServerTool", "id": "tool", "name": name, "description": "", **ports}
    return node_document("ToolNode", own, tool=tool, **ports)


def _make_fan(size: int, document: Json, work: Callable[[str], str]) -> Shape:
    return Shape(
        document=document,
        graph=fan_by_hand(work),
        inputs={"xs": [str(number) for number in range(size)]},
        output="ys",
        tools={"work": work},
    )


def fan_by_hand(work: Callable[[str], str]) -> Any:
    """A node for each of the texts `xs`, and a list `ys` that collects."""
    shape: Any = TypedDict("Spread", {"xs": list[str], "ys": Annotated[list[str], operator.add]})
    graph: Any = StateGraph(shape)
    graph.add_node("spread", lambda _state: {})
    graph.add_node("work", lambda one: {"ys": [work(one["x"])]})
    graph.add_edge(START, "spread")
    graph.add_conditional_edges(
        "spread", lambda state: [Send("work", {"x": x}) for x in state["xs"]], ["work"]
    )
    graph.add_edge("work", END)
    return graph


def in_turn(document: Json) -> Json:
    """The same flow with a MapNode in the place of each ParallelMapNode."""
    nodes = document["$referenced_components"]
    replaced = {
        name: {**one, "component_type": "MapNode"}
        if one["component_type"] == "ParallelMapNode"
        else one
        for name, one in nodes.items()
    }
    return {**document, "$referenced_components": replaced}


PORTABLE: Final = (
    ("choices", make_choices, (100,)),
    ("loop of tools", make_loop, (1_000,)),
    ("fan-out of choices", make_fan_of_choices, (100, 1_000)),
    ("fan-out of tools", make_fan_of_tools, (100, 1_000)),
)

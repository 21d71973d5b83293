"""What is read of the engine that is not public: whose graph a node is in, and where it stands."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict

from cinatra_sdk.lineage import place_of
from cinatra_sdk.tasks import own_shape, shape_of


class State(TypedDict, total=False):
    a: str
    b: str


def graph_of(seen: dict[str, Any], *, inner: Any = None, node: str = "only", saver: Any = None):
    def note(_state: State) -> dict[str, Any]:
        seen[node] = (own_shape(), place_of(get_config(), get_runtime().execution_info))
        return {}

    builder = StateGraph(State)
    builder.add_node(node, note)
    builder.add_edge(START, node)
    if inner is None:
        builder.add_edge(node, END)
    else:
        builder.add_node("inner", inner)
        builder.add_edge(node, "inner")
    return builder.compile(checkpointer=saver)


def test_a_node_sees_the_shape_of_its_own_graph_also_inside_another_one() -> None:
    seen: dict[str, Any] = {}
    inner = graph_of(seen, node="deep")
    outer = graph_of(seen, inner=inner)
    outer.invoke({"a": "x"})
    assert seen["only"][0] == shape_of(outer.channels)
    assert seen["deep"][0] == shape_of(inner.channels)
    assert seen["only"][0] != seen["deep"][0]


def test_graphs_are_told_apart_by_the_names_of_their_nodes() -> None:
    one, other = graph_of({}, node="one"), graph_of({}, node="other")
    assert shape_of(one.channels) != shape_of(other.channels)
    assert shape_of(one.channels) == shape_of(graph_of({}, node="one").channels)


def test_outside_of_a_graph_there_is_no_shape() -> None:
    assert own_shape() == ""


def test_a_node_knows_thread_namespace_and_checkpoint_where_checkpoints_are_kept() -> None:
    seen: dict[str, Any] = {}
    saver = InMemorySaver()
    graph = graph_of(seen, inner=graph_of(seen, node="deep"), saver=saver)
    config: Any = {"configurable": {"thread_id": "t1"}}
    graph.invoke({"a": "x"}, config, durability="sync")
    ids = [kept.checkpoint["id"] for kept in saver.list(config)]
    place = seen["only"][1]
    assert (place.thread, place.namespace, place.is_kept) == ("t1", "", True)
    assert place.checkpoint in ids
    assert place.saver is saver
    assert seen["deep"][1].namespace.startswith("inner:")
    assert seen["deep"][1].saver is saver


def test_a_node_knows_when_no_checkpoint_is_kept_on_the_way() -> None:
    seen: dict[str, Any] = {}
    graph = graph_of(seen, saver=InMemorySaver())
    graph.invoke({"a": "x"}, {"configurable": {"thread_id": "t1"}}, durability="exit")
    assert seen["only"][1].is_kept is False
    graph_of(seen).invoke({"a": "x"})
    assert seen["only"][1] is None

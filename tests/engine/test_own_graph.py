"""What is read of the engine that is not public: whose graph a node is in, and where it stands."""

from __future__ import annotations

import functools
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import _algo
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import seal_host_fields
from cinatra_sdk.errors import EngineUnsupported
from cinatra_sdk.langgraph_threads.lineage import place_of
from cinatra_sdk.langgraph_threads.state_channels import GovernedState
from cinatra_sdk.langgraph_threads.tasks import ENGINE, own_shape, shape_of

ROOT = Path(__file__).resolve().parents[2]


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


def test_a_node_that_is_called_as_a_plain_function_has_no_shape() -> None:
    asked = RunnableLambda(lambda _given: own_shape())
    assert asked.invoke({}) == ""
    # As another program may call it, with a thread in its config.
    assert asked.invoke({}, {"configurable": {"thread_id": "t1"}}) == ""


@pytest.mark.parametrize("read", [None, "no function", functools.partial(print, 1)])
def test_an_engine_that_does_not_say_whose_channels_these_are_is_refused(
    monkeypatch: pytest.MonkeyPatch, read: Any
) -> None:
    def changed(*args: Any, **more: Any) -> Any:
        """The engine's own, with the member that is read here gone, or another thing."""
        task = prepared(*args, **more)
        if task is not None and getattr(task, "config", None):
            task.config["configurable"].pop("__pregel_read")
            if read is not None:
                task.config["configurable"]["__pregel_read"] = read
        return task

    prepared = _algo.prepare_single_task
    monkeypatch.setattr(_algo, "prepare_single_task", changed)
    builder = StateGraph(GovernedState)
    builder.add_node("host", seal_host_fields())
    builder.add_edge(START, "host")
    with pytest.raises(EngineUnsupported) as refused:
        builder.compile().invoke({})
    installed = version("langgraph")
    assert str(refused.value) == (
        f"LangGraph {installed} does not say to which graph a node belongs, so no thread can be told "
        "from another graph's (install langgraph>=1.2.22,<1.3)"
    )


def forget_in_tasks(monkeypatch: pytest.MonkeyPatch, section: str, key: str) -> None:
    """Let the engine prepare its tasks without `key` in that section of their config."""

    def changed(*args: Any, **more: Any) -> Any:
        task = prepared(*args, **more)
        if task is not None and getattr(task, "config", None):
            del task.config[section][key]
        return task

    prepared = _algo.prepare_single_task
    monkeypatch.setattr(_algo, "prepare_single_task", changed)


def test_an_engine_that_does_not_say_how_a_node_was_started_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_in_tasks(monkeypatch, "metadata", "langgraph_path")
    builder = StateGraph(GovernedState)
    builder.add_node("host", seal_host_fields())
    builder.add_edge(START, "host")
    with pytest.raises(EngineUnsupported, match="does not say how a node was started"):
        builder.compile().invoke({})


def test_an_engine_that_does_not_say_where_checkpoints_are_kept_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_in_tasks(monkeypatch, "configurable", "__pregel_checkpointer")
    with pytest.raises(EngineUnsupported, match="does not say where checkpoints are kept"):
        graph_of({}).invoke({"a": "x"})


def test_the_engine_that_the_error_names_is_the_one_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"langgraph{ENGINE}" in project["dependencies"]


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

"""Each name of LangGraph that is private or undocumented, and what breaks when LangGraph changes it.

A row that fails names the sentence to read; the tests that it points to say whether the way round
still holds.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from cinatra_sdk.langgraph_internals import keys, postgres_saver, task_facts

ROOM = Path(keys.__file__).parent

NAMES = [
    ("langgraph._internal._constants", "CONFIG_KEY_CALL", "tasks that code in a branch begins"),
    ("langgraph._internal._constants", "CONFIG_KEY_CHECKPOINT_NS", "places of graphs inside a branch"),
    ("langgraph._internal._constants", "CONFIG_KEY_SCRATCHPAD", "counters of a branch without a task"),
    ("langgraph._internal._runnable", "RunnableCallable", "nodes with a form for threads and one for event loops"),
    ("langgraph._internal._scratchpad", "PregelScratchpad", "counters of a branch without a task"),
    ("langchain_core.runnables.config", "var_child_runnable_config", "the config of code in a branch"),
    ("langgraph.channels.base", "BaseChannel", "every governed channel"),
    ("langgraph.channels", "LastValue", "the mark of an empty channel"),
    ("langgraph.errors", "EmptyChannelError", "reading an empty governed channel"),
    ("langgraph.errors", "is_invalid_resume", "a gate that stays open after an answer that does not fit"),
    ("langgraph.checkpoint.serde.types", "_DeltaSnapshot", "lists that other graphs wrote"),
    ("langgraph.checkpoint.serde.types", "INTERRUPT", "rows of gates in the database"),
    ("langgraph.checkpoint.base.id", "uuid6", "ids above those of a clock that was ahead"),
    ("langgraph.checkpoint.base.id", "UUID", "the time in an id"),
    ("langgraph.checkpoint.base.id", "_last_v6_timestamp", "ids above those of a clock that was ahead"),
]  # fmt: skip
MEMBERS = [
    ("_cursor", "reading ids, and gathering writes"),
    ("_load_checkpoint_tuple", "a checkpoint of a row that is known already"),
    ("_search_where", "telling a saver whose list is its own"),
    ("SELECT_SQL", "reading the newest checkpoint with its line"),
    ("UPSERT_CHECKPOINTS_SQL", "gathering checkpoints"),
    ("UPSERT_CHECKPOINT_BLOBS_SQL", "gathering values"),
    ("UPSERT_CHECKPOINT_WRITES_SQL", "gathering writes that replace"),
    ("INSERT_CHECKPOINT_WRITES_SQL", "gathering writes"),
]
"""Of the Postgres saver."""


@pytest.mark.parametrize(("module", "name", "breaks"), NAMES, ids=[row[1] for row in NAMES])
def test_langgraph_still_has_the_name(module: str, name: str, breaks: str) -> None:
    assert hasattr(importlib.import_module(module), name), f"gone, and with it: {breaks}"


@pytest.mark.parametrize(("name", "breaks"), MEMBERS, ids=[row[0] for row in MEMBERS])
def test_the_postgres_saver_still_has_the_member(name: str, breaks: str) -> None:
    assert hasattr(PostgresSaver, name), f"gone, and with it: {breaks}"


def test_the_room_imports_no_name_that_is_not_listed_here() -> None:
    listed = {(module, name) for module, name, _ in NAMES}
    documented = {
        "BaseCheckpointSaver", "CheckpointTuple", "GraphInterrupt", "InMemorySaver", "PostgresSaver",
        "Runnable", "RunnableConfig", "id", "task",
    }  # fmt: skip
    found = {
        (node.module, alias.name)
        for path in ROOM.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("langgraph", "langchain_core"))
        for alias in node.names
        if alias.name not in documented
    }
    assert found == listed - {("langgraph.checkpoint.base.id", "_last_v6_timestamp")}


def test_the_saver_writes_and_reads_by_the_statements_that_are_known() -> None:
    """Where this fails, read the new texts, and mend `statement.py` of `store/work` with their columns.
    Until then runs go on by LangGraph's own statements: slower, and right."""
    postgres_saver.knows_statements.cache_clear()
    assert postgres_saver.knows_statements()


def test_the_saver_asks_for_a_pipeline_where_it_writes_and_nowhere_else() -> None:
    source = {
        name: inspect.getsource(getattr(PostgresSaver, name))
        for name in ("put", "put_writes", "get_tuple", "list", "get_delta_channel_history")
    }
    assert {name for name, text in source.items() if "pipeline=True" in text} == {
        "put",
        "put_writes",
    }


class State(TypedDict, total=False):
    seen: dict[str, Any]


def test_a_running_node_is_told_its_name_step_graph_checkpointer_and_answers() -> None:
    told: list[dict[str, Any]] = []

    def node(state: State) -> State:
        config = get_config()
        told.append(
            {
                "name": task_facts.read_node_name(config),
                "step": task_facts.read_step(config),
                "sent": task_facts.was_sent(config),
                "channels": set(task_facts.find_channels(config)),
                "values": task_facts.read_channels(config, ["seen"]),
                "saver": task_facts.find_checkpointer(config),
                "stored": task_facts.is_stored_on_the_way(config),
                "answers": task_facts.list_given_answers(config),
                "namespace": config["metadata"][keys.NAMESPACE].partition(":")[0],
            }
        )
        interrupt("?")
        return {}

    graph: Any = StateGraph(State)
    graph.add_node("only", node)
    graph.add_edge(START, "only")
    graph.add_edge("only", END)
    saver = InMemorySaver()
    compiled = graph.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    (pause,) = compiled.invoke({"seen": {"a": 1}}, config)["__interrupt__"]
    compiled.invoke(Command(resume={pause.id: "yes"}), config)
    first, again = told
    assert {**first, "channels": ()} == {
        "name": "only", "step": 1, "sent": False, "channels": (), "values": {"seen": {"a": 1}},
        "saver": saver, "stored": True, "answers": (), "namespace": "only",
    }  # fmt: skip
    assert {"seen", "branch:to:only"} <= first["channels"]
    assert again["answers"] == ("yes",)


def test_a_node_that_a_send_started_is_told() -> None:
    told: list[bool] = []
    graph: Any = StateGraph(State)
    graph.add_node("first", lambda state: Command(goto=Send("second", {})))
    graph.add_node("second", lambda state: told.append(task_facts.was_sent(get_config())))
    graph.add_edge(START, "first")
    graph.compile().invoke({})
    assert told == [True]


def test_outside_of_any_graph_nothing_is_told() -> None:
    assert task_facts.read_node_name({}) == ""
    assert task_facts.read_step({}) == 0
    assert task_facts.was_sent({}) is False
    assert task_facts.find_channels({}) == {}
    assert task_facts.find_checkpointer({}) is None
    assert task_facts.list_given_answers({}) == ()


@pytest.mark.parametrize("key", ["__pregel_x", "langgraph_x"])
def test_a_graph_that_tells_nothing_is_noticed(key: str) -> None:
    config = {"configurable": {key: 1}}
    for find in (task_facts.was_sent, task_facts.find_channels, task_facts.find_checkpointer):
        assert find(config) is task_facts.NOT_TOLD


def test_the_keys_are_those_of_langgraph() -> None:
    constants = importlib.import_module("langgraph._internal._constants")
    of_langgraph = {value for name, value in vars(constants).items() if isinstance(value, str)}
    assert {
        keys.READ, keys.CHECKPOINTER, keys.DURABILITY, keys.SCRATCHPAD, keys.PUSH
    } <= of_langgraph  # fmt: skip

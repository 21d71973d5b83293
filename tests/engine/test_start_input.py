"""The input by which a caller begins a flow's graph: nothing of it is lost without a word."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.langgraph_threads.graph_input import on_own_threads
from cinatra_sdk.testing import drive
from graphs.orchestrator_v1 import build_graph
from oas_compiler import compile_flow
from oas_compiler.lower.flow import Flow
from tests.flows import end, flow_of, gate, port, start


def asking() -> Flow:
    """Takes `topic` and `tone`, asks once, and gives both back."""
    inputs = (port("topic", default="none"), port("tone", default="plain"))
    edges = [("start", "topic", "end", "topic"), ("start", "tone", "end", "tone")]
    ends = end(port("topic"), port("tone"))
    return compile_flow(flow_of(start(*inputs), gate("review"), ends, edges=edges))


def invoke(graph: Any, given: Any, how: str) -> Any:
    config: Any = {"configurable": {"thread_id": "t"}}
    if how == "invoke":
        return graph.invoke(given, config)
    if how == "stream":
        return list(graph.stream(given, config))[-1]
    if how == "ainvoke":
        return asyncio.run(graph.ainvoke(given, config))
    return graph.batch([given], [config])[0]


ways = pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "batch"])
fused = pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fused"])
STRAY: Any = [
    ({"topic": "Bees"}, r"'topic' would be lost \(give \{\"inputs\": \{\"topic\": …\}\}\)"),
    ({"topic": "Bees", "tone": "dry"}, r"'topic', 'tone' would be lost"),
    ({"inputs": {"topic": "Bees"}, "tone": "dry"}, r"'tone' would be lost"),
    ({"topci": "Bees"}, r"'topci' would be lost \(did you mean \"topic\"\?"),
    ({"messages": [{"role": "user", "content": "Bees"}]}, r"'messages' would be lost"),
    ({"inputs": {}, "messages": []}, r"'messages' would be lost"),
    ({"input": {"topic": "Bees"}}, r"'input' would be lost"),
    ({"outputs": {"topic": "made up"}}, r"'outputs' would be lost"),
    ({1: "Bees"}, r"'1' would be lost"),
    ("Bees", r"is an object, not a str"),
    ("", r"is an object, not a str"),
    (["Bees"], r"is an object, not a list"),
    ([], r"is an object, not a list"),
    (7, r"is an object, not a int"),
    (False, r"is an object, not a bool"),
    (
        {"inputs": {"topci": "Bees"}},
        r"input topci: not an input of this flow, did you mean \"topic\"",
    ),
    ({"inputs": {"inputs": {"topic": "Bees"}}}, r"input inputs: not an input of this flow"),
    ({"inputs": "Bees"}, r"the inputs are a str, not an object"),
    ({"inputs": []}, r"the inputs are a list, not an object"),
    ({"inputs": ""}, r"the inputs are a str, not an object"),
]


@fused
@pytest.mark.parametrize(("given", "says"), STRAY, ids=[str(given) for given, _ in STRAY])
def test_what_would_be_lost_is_refused_by_name(given: Any, says: str, *, fuse: bool) -> None:
    graph = asking().graph(InMemorySaver(), fuse=fuse)
    with pytest.raises(InputInvalid, match=says):
        invoke(graph, given, "invoke")


@ways
def test_every_way_of_a_graph_refuses_it(how: str) -> None:
    graph = asking().graph(InMemorySaver())
    with pytest.raises(InputInvalid, match="'topic' would be lost"):
        invoke(graph, {"topic": "Bees"}, how)
    # nothing was written: the thread can still begin
    assert invoke(graph, {"inputs": {"topic": "Bees"}}, how)


@pytest.mark.parametrize(
    "given", [{"inputs": {"topic": "Bees"}}, {"inputs": {}}, {}, {"inputs": None}]
)
def test_the_right_input_and_an_empty_one_begin(given: Any) -> None:
    graph, config = asking().graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    assert len(graph.invoke(given, config)["__interrupt__"]) == 1
    done = graph.invoke(Command(resume={"approved": True}), config)
    topic = "Bees" if given.get("inputs") else "none"
    assert done["outputs"] == {"topic": topic, "tone": "plain"}


@pytest.mark.parametrize("name", ["approval_policy", "bearer_token", "rejected_at"])
def test_what_only_the_host_sets_is_dropped_and_named_in_the_log(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    waived: Any = {"steps": [{"stepNumber": 1, "requiresApproval": False}]}
    value = waived if name == "approval_policy" else "stolen"
    graph, config = asking().graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    with caplog.at_level(logging.WARNING):
        parked = graph.invoke({"inputs": {"topic": "Bees", name: value}, name: value}, config)
    assert len(parked["__interrupt__"]) == 1  # the gate still asks
    assert graph.get_state(config).values.get(name) != value
    assert sum("R01_IGNORED" in record.getMessage() for record in caplog.records) == 2


def test_a_bare_input_sets_no_field_of_the_host() -> None:
    graph, config = asking().graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    with pytest.raises(InputInvalid, match="'run', 'status' would be lost"):
        graph.invoke({"run": {"run_id": "other"}, "status": "completed"}, config)
    assert graph.get_state(config).values == {}


def test_a_second_input_on_a_thread_is_refused_in_the_same_words() -> None:
    graph, config = asking().graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    graph.invoke({"inputs": {}}, config)
    with pytest.raises(InputInvalid, match="'topic' would be lost"):
        graph.invoke({"topic": "Bees"}, config)
    assert graph.invoke(Command(resume={"approved": True}), config)["status"] == "completed"


def test_a_graph_on_its_own_threads_refuses_it_too() -> None:
    flow = asking()
    graph = on_own_threads(flow.graph(InMemorySaver(), fuse=False), pin=flow.pin)
    with pytest.raises(InputInvalid, match="'topic' would be lost"):
        graph.invoke({"topic": "Bees"}, flow.config(run_id="t"))


def test_a_graph_written_by_hand_keeps_its_own_keys() -> None:
    graph = on_own_threads(build_graph(checkpointer=InMemorySaver()))
    given = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}
    assert graph.invoke(given, {"configurable": {"thread_id": "t"}})["__interrupt__"]


def test_a_driven_flow_takes_its_inputs_bare_as_before() -> None:
    result = drive(asking(), {"topic": "Bees"}, answers=[True])
    assert result.outputs == {"topic": "Bees", "tone": "plain"}


def test_a_long_list_of_stray_names_is_cut() -> None:
    with pytest.raises(InputInvalid, match=r"and 7 more would be lost"):
        asking().graph().invoke({f"k{number}": 1 for number in range(12)})

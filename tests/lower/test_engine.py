"""What this project relies on in the engine: a contract, checked against the installed version."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.func import task
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from cinatra_sdk.flow.plan.channel_names import channel_of, node_name
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.langgraph_internals.nodes import (
    NeedsATask,
    enter_config,
    make_branch_config,
    node_runnable,
    read_keeper,
)
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, port, start


class State(TypedDict, total=False):
    way: str


def graph_of(runnable: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("n", runnable)
    graph.add_edge(START, "n")
    graph.add_edge("n", END)
    return graph.compile()


def test_a_node_runs_in_its_synchronous_and_its_asynchronous_form() -> None:
    def run(state: State, runtime: Runtime[Any]) -> State:
        assert isinstance(runtime, Runtime)
        return {"way": "sync"}

    async def arun(state: State, runtime: Runtime[Any]) -> State:
        assert isinstance(runtime, Runtime)
        return {"way": "async"}

    graph = graph_of(node_runnable("n", run, arun))
    assert graph.invoke({}) == {"way": "sync"}
    assert asyncio.run(graph.ainvoke({})) == {"way": "async"}


def test_a_node_without_an_asynchronous_form_runs_in_the_event_loop_itself() -> None:
    import threading

    def run(state: State) -> State:
        return {"way": threading.current_thread().name}

    graph = graph_of(node_runnable("n", run, None))
    assert asyncio.run(graph.ainvoke({})) == {"way": threading.main_thread().name}


def test_the_engine_finds_a_subflow_for_drawing_and_for_state() -> None:
    inner = flow_of(start(port("x")), gate("ask"), end(), id_="inner")
    flow = compile_flow(flow_of(start(port("x", default="1")), flow_node("sub", inner), end(),
                                edges=[("start", "x", "sub", "x")]))  # fmt: skip
    graph = flow.graph(InMemorySaver())
    assert "sub" in dict(graph.get_subgraphs())
    assert any("ask" in node for node in graph.get_graph(xray=True).nodes)
    config = flow.config(run_id="r")
    graph.invoke(flow.input({}), config, context=flow.context(run_id="r"))
    (task,) = graph.get_state(config, subgraphs=True).tasks
    assert task.state.next == ("ask",)  # type: ignore[union-attr]


def test_a_flow_runs_asynchronously_from_start_to_end() -> None:
    inner = flow_of(start(port("x")), gate("ask", output=port("said")), end(port("said")), id_="inner",
                    edges=[("ask", "said", "end", "said")])  # fmt: skip
    platform = SimulatedPlatform()
    flow = compile_flow(
        flow_of(start(port("x", default="1")), api("call", outputs=[port("y")]), flow_node("sub", inner),
                end(port("said")), edges=[("start", "x", "sub", "x"), ("sub", "said", "end", "said")]),
        platform=platform,
    )  # fmt: skip

    async def scenario() -> Any:
        graph = flow.graph(InMemorySaver())
        config, context = flow.config(run_id="r"), flow.context(run_id="r")
        first = await graph.ainvoke(flow.input({}), config, context=context)
        (waiting,) = first["__interrupt__"]
        answer = Decision.approve(by="x", value="hi").wire()
        return await graph.ainvoke(Command(resume={waiting.id: answer}), config, context=context)

    result = asyncio.run(scenario())
    assert result["outputs"] == {"said": "hi"}
    assert [call.node for call in platform.calls] == ["call"]


def test_an_answer_that_does_not_fit_leaves_the_gate_open_and_stores_nothing() -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), end()))
    graph = flow.graph(InMemorySaver())
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    graph.invoke(flow.input({}), config, context=context)
    (waiting,) = graph.get_state(config).interrupts
    for bad in ({"approved": "yes"}, {"approved": 1}, "approve", {"approved": True, "x": 1}):
        with pytest.raises(ValueError):
            graph.invoke(Command(resume={waiting.id: bad}), config, context=context)
        assert [i.id for i in graph.get_state(config).interrupts] == [waiting.id]
    result = graph.invoke(Command(resume={waiting.id: {"approved": True}}), config, context=context)
    assert result["status"] == "completed"


def test_an_answer_under_a_stale_or_unknown_interrupt_id_answers_nothing() -> None:
    flow = compile_flow(flow_of(start(), gate("first"), gate("second"), end()))
    graph = flow.graph(InMemorySaver())
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    graph.invoke(flow.input({}), config, context=context)
    (first,) = graph.get_state(config).interrupts
    graph.invoke(Command(resume={first.id: {"approved": True}}), config, context=context)
    graph.invoke(Command(resume={first.id: {"approved": True}}), config, context=context)
    (second,) = graph.get_state(config).interrupts
    assert second.response_schema["x-gate"]["id"] == "second"


def test_the_payload_has_exactly_its_three_keys_and_the_response_schema_tells_the_gate() -> None:
    flow = compile_flow(flow_of(start(), gate("ask", renderer="@a/b:c", inputs=[port("n", "integer", default=0)]), end()))  # fmt: skip
    graph = flow.graph(InMemorySaver())
    config = flow.config(run_id="r")
    result = graph.invoke(flow.input({}), config, context=flow.context(run_id="r"))
    (waiting,) = result["__interrupt__"]
    assert waiting.value == {
        "xRenderer": "@a/b:c",
        "schema": {
            "type": "object",
            "properties": {"approved": {"type": "boolean"}},
            "required": ["approved"],
        },
        "values": {"n": 0},
    }
    about = waiting.response_schema["x-gate"]
    assert {key: about[key] for key in ("id", "node", "visit", "step", "risk")} == {
        "id": "ask", "node": "ask", "visit": 1, "step": 1, "risk": "read_only",
    }  # fmt: skip


def test_a_secret_in_a_gates_own_values_fails_the_run_and_one_beside_them_is_left_out() -> None:
    shown = flow_of(
        start(port("api_key", default="sk-aaaaaaaaaaaaaaaaaaaaaaaa")),
        gate("ask", inputs=[port("api_key")]),
        end(),
        edges=[("start", "api_key", "ask", "api_key")],
    )
    beside = flow_of(
        start(port("api_key", default="sk-aaaaaaaaaaaaaaaaaaaaaaaa")), gate("ask"), end()
    )
    from cinatra_sdk.testing import drive

    failed = drive(compile_flow(shown))
    assert "would show a secret: the key 'api_key'" in str(failed.error)
    assert "sk-aaaa" not in str(failed.error)
    waiting = drive(compile_flow(beside))
    assert waiting.gates[0].values == {}


@pytest.mark.parametrize(
    ("id_", "name"),
    [
        ("review", "review"),
        ("a:b|c", "a%3Ab%7Cc"),
        ("100%", "100%25"),
        ("status", "%73tatus"),
        ("inputs", "%69nputs"),
        ("__end__", "%5F_end__"),
        ("node.x", "%6Eode.x"),
        ("with space", "with space"),
        ("Ünïcode", "Ünïcode"),
    ],
)
def test_node_names_are_the_oas_ids_with_reserved_characters_escaped(id_: str, name: str) -> None:
    assert node_name(id_) == name


def test_a_flow_whose_ids_are_reserved_names_runs_and_reports_the_original_ids() -> None:
    ids = ["status", "inputs", "a:b|c", "messages", "cursor", "node.x", "outputs"]
    flow = compile_flow(flow_of(start(), *(gate(id_) for id_ in ids), end()))
    from cinatra_sdk.testing import drive

    result = drive(flow, answers=lambda _gate: True)
    assert result.status == "completed"
    assert [asked.node for asked in result.gates] == ids
    assert channel_of("x") == "node.x"


def test_studio_gets_the_oas_names_beside_the_ids() -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), end()))
    drawn = flow.graph().get_graph().to_json()["nodes"]
    (ask,) = [node for node in drawn if node["id"] == "ask"]
    assert ask["metadata"]["oas_name"] == "The ask"
    assert ask["metadata"]["oas_id"] == "ask"
    assert ask["metadata"]["oas_type"] == "InputMessageNode"


def run_in_branch(work: Any) -> list[Any]:
    """What `work` gives in each of two branches of a node, or the error that it raises there."""
    found: list[Any] = []

    def run(_state: State) -> State:
        config = get_config()
        for name in ("a", "b"):
            enter_config(make_branch_config(config, name, keeper="mine"))
            try:
                found.append(work())
            except NeedsATask as error:
                found.append(type(error))
        return {}

    graph = StateGraph(State)
    graph.add_node("n", run)
    graph.add_edge(START, "n")
    compiled: Any = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke({"way": ""}, {"configurable": {"thread_id": "t"}})
    return found


@task
def nothing() -> None:
    pass


@pytest.mark.parametrize("work", [lambda: interrupt("really?"), nothing], ids=["pause", "task"])
def test_what_only_a_task_can_do_says_so_in_a_branch_without_one(work: Any) -> None:
    assert run_in_branch(work) == [NeedsATask, NeedsATask]


def test_graphs_in_branches_without_a_task_have_places_of_their_own() -> None:
    places: list[str] = []

    def inner(_state: State) -> State:
        places.append(get_config()["configurable"]["checkpoint_ns"].rpartition("|")[0])
        return {}

    graph = graph_of(inner)

    def work() -> Any:
        graph.invoke({"way": ""})
        graph.invoke({"way": ""})
        return read_keeper(get_config())

    assert run_in_branch(work) == ["mine", "mine"]
    assert len(set(places)) == 4, "two graphs in each of two branches"
    assert [place.partition(":")[0] for place in places] == ["a", "a", "b", "b"]


def test_a_node_that_the_engine_runs_has_no_keeper() -> None:
    found = []

    def run(_state: State) -> State:
        found.append(read_keeper(get_config()))
        return {}

    graph_of(run).invoke({"way": ""})
    assert found == [None]

"""`subgraph`: a graph inside pauses, resumes and rejects with its parent."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import (
    ending,
    gate_once,
    keep_decision,
    seal_host_fields,
    terminal_node,
)
from cinatra_sdk.blocks.inner_graph import subgraph
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly, seal
from cinatra_sdk.langgraph_threads.tasks import shape_of
from oas_compiler import compile_flow
from tests.blocks.block_samples import CONFIG, POLICY, Seen, State, graph_of
from tests.flows import api, end, flow_of, gate, port, start


class ChildInput(TypedDict, total=False):
    topic: str
    bearer_token: Annotated[str, HostOnly]
    approval_policy: Annotated[Any, HostOnly]
    run: Annotated[dict[str, Any], HostOnly]


class ChildOutput(TypedDict, total=False):
    status: str
    rejected_at: str
    write_output: Annotated[dict[str, Any], HostOnly]


class ChildState(GovernedState):
    topic: str
    write_output: Annotated[dict[str, Any], HostOnly]
    review_decision: Annotated[dict[str, Any], HostOnly]
    check_output: dict[str, Any]


def hand_written(platform: Any, *, terminal: bool = True) -> Any:
    """host node → write → gate → check → terminal node."""
    text: Any = {"text": {"type": "string"}}
    builder = StateGraph(
        ChildState,
        context_schema=HostContext,
        input_schema=ChildInput,
        output_schema=ChildOutput,
    )
    builder.add_node("host", seal_host_fields())
    builder.add_node(
        "write",
        llm_step(
            platform, node="write", agent_id="@t/w", user="{{ topic }}", outputs=text, sealed=True
        ),
    )
    keep = keep_decision("review_decision", node="review", step_number=1)
    asking = build_hitl_gate(step_number=1, node="review", write=keep)
    builder.add_node("review", gate_once("review_decision", asking))
    builder.add_node(
        "check", llm_step(platform, node="check", agent_id="@t/c", user="x", outputs=text)
    )
    names = ["host", "write", "review", "check"]
    if terminal:
        builder.add_node("terminal", terminal_node(requires=("review_decision",)))
        names.append("terminal")
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile()


def oas_flow(platform: Any) -> Any:
    """start → write → gate → check → end, compiled from a file."""
    described = flow_of(
        start(port("topic"), required=["topic"], hidden=["topic"]),
        api("write", outputs=[port("text", "string")], data={"topic": "{{ topic }}"}),
        gate("review"),
        api("check"),
        end(port("text", "string")),
        edges=[("start", "topic", "write", "topic"), ("write", "text", "end", "text")],
    )
    return compile_flow(described, platform=platform).graph()


def parent(child: str, platform: Any, saver: Any = None, **more: Any) -> Any:
    if child == "hand-written":
        block = subgraph(
            hand_written(platform),
            node="ask",
            inputs={"topic": "{{ input_params.goal }}"},
            outputs={"text": "{{ write_output.text }}"},
            **more,
        )
    else:
        block = subgraph(
            oas_flow(platform),
            node="ask",
            inputs={"inputs": {"topic": "{{ input_params.goal }}"}},
            outputs={"text": "{{ outputs.text }}"},
            own_policy=True,
            **more,
        )
    return graph_of(block, saver=saver)


CHILDREN = ["hand-written", "compiled"]
STUBS: Any = {"write": {"text": "draft"}, "check": {"text": "ok"}}


def waiting(graph: Any) -> Any:
    (interrupt,) = graph.get_state(CONFIG).interrupts
    return interrupt


@pytest.mark.parametrize("child", CHILDREN)
def test_a_gate_inside_pauses_the_parent_and_no_call_is_made_twice(child: str) -> None:
    platform = Seen(STUBS)
    graph = parent(child, platform)
    context = host_context(run_id="r1", run_token="token-1234")
    graph.invoke({"goal": "cats"}, CONFIG, context=context)
    assert [call.node for call in platform.seen] == ["write"]
    assert waiting(graph).response_schema["x-gate"]["node"] == "review"
    if child == "compiled":
        assert waiting(graph).response_schema["x-gate"]["id"] == "ask/review"
        assert platform.seen[0].idempotency_key != ""
    result = graph.invoke(
        Command(resume={waiting(graph).id: {"approved": True}}), CONFIG, context=context
    )
    assert [call.node for call in platform.seen] == ["write", "check"]
    assert result["ask_output"] == {"text": "draft"}
    assert {call.run_id for call in platform.seen} == {"r1"}
    assert {call.credentials.run_token for call in platform.seen} == {"token-1234"}
    assert "cats" in str(platform.seen[0].body)


@pytest.mark.parametrize("child", CHILDREN)
def test_a_rejection_inside_is_a_rejection_of_the_parent(child: str) -> None:
    platform = Seen(STUBS)
    graph = parent(child, platform)
    graph.invoke({}, CONFIG)
    graph.invoke(Command(resume={waiting(graph).id: {"approved": False}}), CONFIG)
    values = graph.get_state(CONFIG).values
    assert values["status"] == "rejected"
    assert values["rejected_at"].startswith("20")
    assert "ask_output" not in values
    assert [call.node for call in platform.seen] == ["write"]


@pytest.mark.parametrize("child", CHILDREN)
def test_a_run_parked_inside_goes_on_with_another_saver_on_the_same_storage(child: str) -> None:
    first = InMemorySaver()
    before = Seen(STUBS)
    parent(child, before, first).invoke({}, CONFIG)
    second = InMemorySaver()
    second.storage, second.writes, second.blobs = first.storage, first.writes, first.blobs
    after = Seen(STUBS)
    graph = parent(child, after, second)
    result = graph.invoke(Command(resume={waiting(graph).id: {"approved": True}}), CONFIG)
    assert result["ask_output"] == {"text": "draft"}
    assert [call.node for call in before.seen] == ["write"]
    assert [call.node for call in after.seen] == ["check"]


@pytest.mark.parametrize("child", CHILDREN)
def test_an_async_parent_pauses_and_resumes_in_the_same_way(child: str) -> None:
    platform = Seen(STUBS)
    graph = parent(child, platform)

    async def drive() -> Any:
        parked = await graph.ainvoke({}, CONFIG)
        (interrupt,) = parked["__interrupt__"]
        return await graph.ainvoke(Command(resume={interrupt.id: {"approved": True}}), CONFIG)

    assert asyncio.run(drive())["ask_output"] == {"text": "draft"}
    assert platform.awaited == 2


@pytest.mark.parametrize("child", CHILDREN)
def test_the_drawing_shows_the_nodes_inside(child: str) -> None:
    nodes = parent(child, Seen()).get_graph(xray=True).nodes
    assert {"ask:write", "ask:review", "ask:check"} <= set(nodes)


def test_the_parents_policy_governs_the_gates_inside_and_an_own_one_does_not_leak() -> None:
    waived: Any = {"steps": [{"stepNumber": 1, "requiresApproval": False}]}
    context = host_context(run_id="r1", approval_policy=waived)
    under_parent = Seen(STUBS)
    result = parent("hand-written", under_parent).invoke({}, CONFIG, context=context)
    assert result["ask_output"] == {"text": "draft"}
    own = parent("compiled", Seen(STUBS))
    own.invoke({}, CONFIG, context=context)
    assert waiting(own).response_schema["x-gate"]["node"] == "review"
    assert own.get_state(CONFIG).values["approval_policy"] == waived


def test_the_graph_inside_gets_the_runs_identity_sealed_with_its_place_in_the_run() -> None:
    platform = Seen(STUBS)
    graph = parent("hand-written", platform)
    graph.invoke({}, CONFIG, context=host_context(run_id="r1", tenant="t1"))
    inner = graph.get_state(CONFIG, subgraphs=True).tasks[0].state.values
    shape = hand_written(platform)
    run = dict(inner["run"])
    assert run.pop("ledger"), "of a run whose host gave no ledger"
    assert run == {
        "run_id": "r1", "tenant": "t1", "thread": "thread-1", "digest": "", "scope": "ask",
        "graph": shape_of(shape.channels),
    }  # fmt: skip
    assert inner["approval_policy"] == POLICY
    assert inner["bearer_token"] == ""
    assert platform.seen[0].path == "ask/write"


def test_a_state_without_bearer_token_is_a_value_error_and_nothing_inside_runs() -> None:
    platform = Seen(STUBS)
    block = subgraph(hand_written(platform), node="ask", inputs={"topic": "x"}, outputs={})
    with pytest.raises(ValueError, match="node 'ask': the state has no key 'bearer_token'"):
        graph_of(block, host=False).invoke({"goal": "x"}, CONFIG)
    assert platform.seen == []


def test_nothing_inside_runs_once_the_parent_was_rejected() -> None:
    platform = Seen(STUBS)
    graph = parent("hand-written", platform)
    update = {"bearer_token": seal(""), **ending("rejected", at="2020-01-01")}
    graph.update_state(CONFIG, update, as_node="host_node")
    graph.invoke(None, CONFIG)
    assert platform.seen == []


def test_a_graph_that_writes_no_ending_is_an_error_of_its_node() -> None:
    platform = Seen(STUBS)
    inner = hand_written(platform, terminal=False)
    graph = graph_of(subgraph(inner, node="ask", inputs={"topic": "x"}, outputs={}))
    graph.invoke({}, CONFIG)
    with pytest.raises(NodeFailed, match="node 'ask': its graph stopped before it reached an end"):
        graph.invoke(Command(resume={waiting(graph).id: {"approved": True}}), CONFIG)


def test_an_output_that_the_graph_does_not_return_names_the_node() -> None:
    block = subgraph(
        hand_written(Seen(STUBS)),
        node="ask",
        inputs={"topic": "x"},
        outputs={"text": "{{ nowhere.text }}"},
    )
    graph = graph_of(block)
    graph.invoke({}, CONFIG)
    with pytest.raises(NodeFailed, match=r"node 'ask': its outputs: .*nowhere"):
        graph.invoke(Command(resume={waiting(graph).id: {"approved": True}}), CONFIG)


def test_a_graph_with_a_checkpointer_of_its_own_is_refused() -> None:
    inner = StateGraph(State).add_node("a", lambda state: {}).add_edge(START, "a")
    compiled = inner.compile(checkpointer=InMemorySaver())
    with pytest.raises(ValueError, match="checkpointer of its own"):
        subgraph(compiled, node="ask", inputs={}, outputs={})

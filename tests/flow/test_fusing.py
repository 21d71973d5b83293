"""A run with nodes in each other's supersteps is the same run as with a superstep for each."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.errors import FlowError
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.gate import Gate, gates_of
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import adrive, drive, sampled_inputs
from oas_compiler import CompileError, Flow, compile_flow
from tests.examples.agents import host_of
from tests.flow.random_flows import counting_tools, random_flow
from tests.flows import api, branching, end, flow_node, flow_of, gate, message, node, port, start
from tests.samples import CINATRA

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/cinatra/oas.json"))
FILES = [file for file in (*CINATRA, *EXAMPLES) if file.parents[1].name != "tools-agent"]
"""All but the one whose tools are functions of a host."""


def tell(flow: Flow, *, answers: Any = Gate.example, tools: Any = None) -> dict[str, Any]:
    """Everything that a run shows, but for times and ids that differ between any two runs."""
    events: list[RunEvent] = []
    lent = flow if tools is None else with_tools(flow, tools)
    context = flow.context(run_id="the-run")
    try:
        result = drive(
            lent, sampled_inputs(flow), answers=answers, context=context, on_event=events.append
        )
    except FlowError as error:
        return {"refused": (type(error), str(error))}
    return {
        "status": result.status,
        "outputs": result.outputs,
        "branch": result.branch,
        "messages": result.messages,
        "error": (type(result.error), str(result.error)),
        "gates": [(one.id, one.payload) for one in result.gates],
        "decisions": [{**one, "at": ""} for one in result.decisions],
        "calls": [(one.path, one.url, one.body, one.idempotency_key) for one in result.calls],
        "events": [_without_time(event) for event in events],
    }


def with_tools(flow: Flow, tools: Any) -> Flow:
    return replace(flow, host=replace(flow.host, tools=tools))


def _without_time(event: RunEvent) -> tuple[Any, ...]:
    data = dict(event.data)
    if isinstance(data.get("decision"), dict):
        data["decision"] = {**data["decision"], "at": ""}  # type: ignore[dict-item]
    return (event.kind, event.name, event.path, event.visit, data)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parents[1].name)
def test_a_real_flow_runs_the_same(file: Path) -> None:
    fused = compile_flow(file)
    plain = replace(fused, fuse=False)
    assert tell(fused) == tell(plain)
    assert tell(fused, answers=lambda _gate: False) == tell(plain, answers=lambda _gate: False)


def random_flows(count: int) -> list[int]:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    return [seed + number for number in range(count)]


def compare_random(seed: int) -> str:
    """How the run of the random flow of this seed ends; the same both ways."""
    try:
        fused = compile_flow(random_flow(seed), tools=counting_tools(), max_steps=40)
    except CompileError:
        return "refused"
    plain = replace(fused, fuse=False)
    chance = random.Random(seed)
    rejects = chance.randint(0, 12)

    def answers() -> Any:
        asked = iter(range(100))
        return lambda _gate: next(asked) != rejects

    ours = tell(fused, answers=answers(), tools=counting_tools())
    theirs = tell(plain, answers=answers(), tools=counting_tools())
    assert ours == theirs, f"seed {seed}"
    return str(ours.get("status", "refused"))


def test_random_flows_run_the_same() -> None:
    endings = [compare_random(seed) for seed in random_flows(24)]
    assert {"completed", "failed"} <= set(endings), "the control: flows run, and some fail"


@pytest.mark.long
def test_many_random_flows_run_the_same() -> None:
    endings = [compare_random(seed) for seed in random_flows(1500)]
    assert {"completed", "failed", "rejected"} <= set(endings)


def count_supersteps(flow: Flow, **given: Any) -> int:
    graph = flow.graph(InMemorySaver())
    config = flow.config(run_id="r1")
    return len(list(graph.stream(flow.input(given), config, stream_mode="updates")))


def chain(length: int) -> dict[str, Any]:
    said = [message(f"say{number}", f"{number}") for number in range(length)]
    return flow_of(start(), *said, end())


def test_nodes_that_only_compute_take_no_superstep_of_their_own() -> None:
    fused = compile_flow(chain(20))
    assert count_supersteps(fused) == 1
    assert count_supersteps(replace(fused, fuse=False)) == 22, "the control: a superstep for each"


def test_a_gate_and_a_call_keep_their_own_superstep() -> None:
    flow = compile_flow(flow_of(start(), message("say", "x"), api("send"), gate("ask"), end()))
    updates = flow.graph(InMemorySaver()).stream(
        flow.input({}), flow.config(run_id="r1"), stream_mode="updates"
    )
    assert [next(iter(update)) for update in updates] == ["start", "send", "__interrupt__"]


def failing_behind_a_call() -> dict[str, Any]:
    template = node(
        "PluginTemplateNode",
        "cut",
        template="{{ text[7] }}",
        inputs=[port("text")],
        outputs=[port("output")],
    )
    return flow_of(
        start(),
        api("send", outputs=[port("answer")]),
        message("say", "sent"),
        template,
        end(),
        edges=[("send", "answer", "cut", "text")],
    )


@pytest.mark.parametrize("fuse", [True, False])
def test_a_node_that_fails_behind_a_call_does_not_lose_its_answer(fuse: bool) -> None:
    platform = SimulatedPlatform(stubs={"send": {"answer": "abc"}})
    flow = compile_flow(failing_behind_a_call(), platform=platform, fuse=fuse)
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r1")
    for start_with in (flow.input({}), None, None):
        with pytest.raises(FlowError, match="node 'cut': template") as raised:
            graph.invoke(start_with, config, context=flow.context(run_id="r1"))
        assert raised.value.node == "cut"
    state = graph.get_state(config)
    assert state.next == ("cut",)
    assert state.values["node.send"]["out"] == {"answer": "abc"}
    assert len(state.values["messages"]) == 1
    assert len(platform.calls) == 1


@pytest.mark.parametrize("fuse", [True, False])
def test_a_loop_of_nodes_that_only_compute_ends_with_the_same_error(fuse: bool) -> None:
    loop = flow_of(
        start(port("topic", default="again")),
        branching("choose", port("topic"), {"again": "again"}),
        message("say", "round"),
        end(),
        edges=[("start", "topic", "choose", "topic")],
        routes=[("start", None, "choose"), ("choose", "again", "say"), ("say", None, "choose"),
                ("choose", "default", "end")],
    )  # fmt: skip
    flow = compile_flow(loop, fuse=fuse, max_steps=50)
    result = drive(flow)
    assert result.status == "failed"
    assert "has taken 50 steps without an end" in str(result.error)
    assert len(result.messages) == 24


@pytest.mark.parametrize("fused_first", [True, False])
def test_a_run_begun_one_way_is_resumed_the_other_way(fused_first: bool) -> None:
    inner = flow_of(
        start(), message("hear", "in"), gate("inside"), message("told", "x"), end(), id_="inner"
    )
    flow = compile_flow(
        flow_of(start(), message("say", "a"), flow_node("sub", inner), gate("ask"), message("done", "b"), end())
    )  # fmt: skip
    saver, config = InMemorySaver(), flow.config(run_id="r1")
    ways = [flow.graph(saver, fuse=fused_first), flow.graph(saver, fuse=not fused_first)]
    context = flow.context(run_id="r1")
    ways[0].invoke(flow.input({}), config, context=context)
    for graph in (ways[1], ways[0]):
        (waiting,) = gates_of(graph.get_state(config).interrupts)
        graph.invoke(
            Command(resume={waiting.interrupt: {"approved": True}}), config, context=context
        )
    values = ways[1].get_state(config).values
    assert values["status"] == "completed"
    yes = "[Approved by operator]"
    said = ["a", "in", "The inside", yes, "x", "The ask", yes, "b"]
    assert [message.content for message in values["messages"]] == said


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parents[1].name)
@pytest.mark.parametrize("xray", [False, True])
def test_pictures_are_the_same(file: Path, xray: bool) -> None:
    flow = compile_flow(file, host=host_of(file.parents[1].name))
    fused = flow.graph().get_graph(xray=xray)
    plain = flow.graph(fuse=False).get_graph(xray=xray)
    assert fused.draw_mermaid() == plain.draw_mermaid()
    assert fused.nodes.keys() == plain.nodes.keys()
    assert set(flow.graph().nodes) == set(flow.graph(fuse=False).nodes)


def test_an_event_loop_runs_the_same() -> None:
    async def compare(seed: int) -> str:
        try:
            flow = compile_flow(random_flow(seed), tools=counting_tools(), max_steps=40)
        except CompileError:
            return "refused"
        ours, theirs = [
            await adrive(
                with_tools(replace(flow, fuse=fuse), counting_tools()),
                sampled_inputs(flow),
                answers=lambda _gate: True,
            )
            for fuse in (True, False)
        ]
        assert (ours.status, ours.outputs, ours.messages, str(ours.error)) == (
            theirs.status,
            theirs.outputs,
            theirs.messages,
            str(theirs.error),
        ), f"seed {seed}"
        return ours.status

    endings = [asyncio.run(compare(seed)) for seed in random_flows(15)]
    assert "completed" in endings

"""A gate inside a subflow cannot be walked around by writing into the subflow's state."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.langgraph_threads.state_channels import _MAGIC, MISSING
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start, tests_of
from tests.attacks.nested import CONFIG, answer, around, hand_written_around, levels, sent


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    if how.get("store"):
        return on_a_store(how, place)
    if how.get("ended"):
        return on_an_ended_run(how)
    return on_a_graph(how)


def made(how: Any, platform: SimulatedPlatform) -> tuple[Any, Any]:
    """The graph and its first input."""
    if how["kind"] == "flow":
        flow = compile_flow(around(how["depth"]), platform=platform)
        return flow.graph(InMemorySaver()), {"inputs": {}}
    return hand_written_around(platform, how["kind"]), {"topic": "x"}


def on_a_graph(how: Any) -> str:
    platform = SimulatedPlatform()
    graph, first = made(how, platform)
    if how.get("before"):
        graph.invoke(first, CONFIG, interrupt_before=["child"])
        (task,) = graph.get_state(CONFIG).tasks
        inner = {"configurable": {"thread_id": "t1", "checkpoint_ns": f"child:{task.id}"}}
        write(graph, inner, how)
        with suppress(FlowError):
            graph.invoke(None, CONFIG)
        answer(graph, False)
        return verdict(platform)
    graph.invoke(first, CONFIG)
    require_start(
        [call.node for call in platform.calls] == ["draft"], "it does not wait at the gate"
    )
    if "command" in how:
        command(graph, how["command"])
    elif "as_node" in how:
        at = list(levels(graph))[how.get("level", -1)]
        write(graph, at.config, how)
    for act in how.get("then", ["go on"]):
        with suppress(FlowError):
            ACTS[act](graph, first)
    return verdict(platform)


def verdict(platform: SimulatedPlatform) -> str:
    if not sent(platform):
        return "nothing sent"
    return (
        "sent once"
        if [c.node for c in platform.calls].count("draft") == sent(platform) == 1
        else "sent twice"
    )


def write(graph: Any, config: Any, how: Any) -> None:
    with suppress(InvalidUpdateError):
        graph.update_state(config, how["values"], as_node=how["as_node"])


def command(graph: Any, how: Any) -> None:
    given = dict(how)
    if "resume" in given:
        (waiting,) = graph.get_state(CONFIG).interrupts
        given["resume"] = {waiting.id: {"approved": given["resume"]}}
    known = graph.channels
    if isinstance(given.get("update"), dict):
        given["update"] = {key: value for key, value in given["update"].items() if key in known}
    with suppress(FlowError, InvalidUpdateError):
        graph.invoke(Command(**given), CONFIG)


async def approve_async(graph: Any) -> None:
    (waiting,) = (await graph.aget_state(CONFIG)).interrupts
    await graph.ainvoke(Command(resume={waiting.id: {"approved": True}}), CONFIG)


ACTS: Any = {
    "go on": lambda graph, _first: graph.invoke(None, CONFIG),
    "go on async": lambda graph, _first: asyncio.run(graph.ainvoke(None, CONFIG)),
    "input": lambda graph, first: graph.invoke(first, CONFIG),
    "goto": lambda graph, _first: graph.invoke(Command(goto="child"), CONFIG),
    "update": lambda graph, _first: graph.update_state(CONFIG, {"status": "running"}),
    "reject": lambda graph, _first: answer(graph, False),
    "approve": lambda graph, _first: answer(graph, True),
    "approve async": lambda graph, _first: asyncio.run(approve_async(graph)),
}


def on_an_ended_run(how: Any) -> str:
    platform = SimulatedPlatform({"draft": {"text": "the draft"}})
    flow = compile_flow(around(1), platform=platform)
    graph = flow.graph(InMemorySaver())
    graph.invoke({"inputs": {}}, CONFIG)
    answer(graph, True)
    before, calls = outcome(graph), len(platform.calls)
    require_start(before[0] == "completed", "the run to overwrite has not ended")
    if "values" in how:
        write(graph, CONFIG, {"as_node": None, **how})
    elif "input" in how:
        with suppress(FlowError):  # what would be lost is refused
            graph.invoke(how["input"], CONFIG)
    else:
        command(graph, how["command"])
    with suppress(FlowError):
        graph.invoke(None, CONFIG)
    same = outcome(graph) == before and len(platform.calls) == calls
    return "unchanged" if same else f"changed: {outcome(graph)}"


def outcome(graph: Any) -> tuple[Any, ...]:
    from cinatra_sdk.activations import stop_of

    stop = stop_of(graph.get_state(CONFIG))
    return stop.status, stop.outputs, stop.branch, stop.messages, stop.decisions, stop.rejected_at


def on_a_store(how: Any, place: Place) -> str:
    platform = SimulatedPlatform()
    flow = compile_flow(around(1), platform=platform)
    with RunStore.open(place.database) as store:
        run = store.start(flow, {}, "r1")
        (waiting,) = run.waiting
        with PostgresSaver.from_conn_string(place.database) as saver:
            with saver.conn.cursor() as cursor:
                cursor.execute("set search_path to oasflow")
            graph = flow.graph(saver)
            write(graph, list(levels(graph, flow.config(run_id="r1")))[-1].config, how)
        with suppress(FlowError):
            if how["then"] == ["resume"]:
                store.resume("r1")
            else:
                store.answer("r1", waiting.id, Decision.reject(by="ann"))
    return verdict(platform)


@contextmanager
def unasked_seal(place: Place) -> Iterator[None]:
    """Channels that take whatever is written, as if it were sealed."""
    from cinatra_sdk.langgraph_threads import list_channels, state_channels

    kept = state_channels.unseal

    def opened(value: Any) -> Any:
        sealed = isinstance(value, bytes) and value.startswith(_MAGIC)
        return kept(value) if sealed or value is MISSING else value

    with place.monkeypatch.context() as patch:
        patch.setattr(state_channels, "unseal", opened)
        patch.setattr(list_channels, "unseal", opened)
        yield


CONTROLS = {
    "a channel takes what is not sealed": Control(
        open=unasked_seal, row="flow_1:_update_state_as_end-plain"
    ),
    "the same, by hand": Control(
        open=unasked_seal, row="hand-written_inside:_update_state_as_terminal-plain"
    ),
    "the same, after the end": Control(
        open=unasked_seal, row="an_ended_run:_update_state-decisions"
    ),
}

test_attack, test_twin, test_control = tests_of("subflow_end", attempt, CONTROLS)

"""`flow.stream`: what happens in a run without a store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import SimulatedPlatform
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.events import RunEvent
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start, tool

GATED = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())


def flow_with(function: Any) -> Any:
    out = port("out")
    return compile_flow(
        flow_of(start(), tool("t", "f", [], [out]), end(out), edges=[("t", "out", "end", "out")]),
        tools={"f": function},
    )


def stream(flow: Any, *given: Any, **options: Any) -> list[RunEvent]:
    return list(flow.stream(*given, **options))


def astream(flow: Any, *given: Any, **options: Any) -> list[RunEvent]:
    async def collect() -> list[RunEvent]:
        return [event async for event in flow.astream(*given, **options)]

    return asyncio.run(collect())


both = pytest.mark.parametrize("read", [stream, astream], ids=["plain", "on a loop"])


@both
def test_a_flow_tells_its_run_and_its_outputs(read: Any) -> None:
    events = read(flow_with(lambda: "made"), {}, run_id="r1")
    assert [(event.kind, event.name, event.path) for event in events] == [
        ("node", "started", "start"), ("node", "finished", "start"),
        ("node", "started", "t"), ("effect", "begun", "t"), ("effect", "done", "t"),
        ("usage", "spent", "t"), ("node", "finished", "t"),
        ("node", "started", "end"), ("node", "finished", "end"), ("run", "completed", ""),
    ]  # fmt: skip
    assert [event.seq for event in events] == list(range(1, 11))
    assert {event.run_id for event in events} == {"r1"}
    assert events[-1].data == {"outputs": {"out": "made"}}


@both
def test_a_run_that_waits_is_streamed_on_with_its_answer(read: Any) -> None:
    saver = InMemorySaver()
    events = read(GATED, {}, run_id="r1", checkpointer=saver)
    assert (events[-1].kind, events[-1].name) == ("run", "waiting")
    graph = GATED.graph(saver)
    (asked,) = graph.get_state(GATED.config(run_id="r1")).interrupts
    answer: Any = Command(resume={asked.id: {"approved": True}})
    events = read(GATED, answer, run_id="r1", checkpointer=saver)
    told = [event.name for event in events if event.path == "ok"]
    assert told == ["started", "finished", "said", "said"]
    assert events[-1].name == "completed"


@both
def test_a_failure_is_raised_after_the_events_that_led_there(read: Any) -> None:
    with pytest.raises(NodeFailed, match="ZeroDivisionError"):
        read(flow_with(lambda: 1 / 0), {})
    events = flow_with(lambda: 1 / 0).stream({})
    seen: list[str] = []
    with pytest.raises(NodeFailed):
        seen.extend(f"{event.kind} {event.name}" for event in events)
    assert seen[-2:] == ["effect failed", "node failed"]


def test_a_reader_that_goes_away_does_not_stop_the_run() -> None:
    import threading

    made = threading.Event()

    def slow() -> str:
        made.set()
        return "made"

    events: Any = flow_with(slow).stream({})
    next(events)
    events.close()
    assert made.wait(10)

"""Blocks and gates of graphs that are written by hand tell what they do."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from cinatra_sdk import HostContext, SimulatedPlatform, build_hitl_gate, host_context
from cinatra_sdk.blocks.host_node import seal_host_fields
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.events import RunEvent
from cinatra_sdk.langgraph_threads.state_channels import GovernedState
from cinatra_sdk.outside.http_calls.protocol import PlatformUnreachable

TEXT: Any = {"text": {"type": "string"}}


class State(GovernedState):
    ask_output: Any


class Platform(SimulatedPlatform):
    def __init__(self, *fails: BaseException) -> None:
        super().__init__()
        self.fails = list(fails)

    def call(self, call: Any) -> Any:
        if self.fails:
            raise self.fails.pop(0)
        return {"text": "x"}


def graph_of(platform: Any, *, asked: bool) -> Any:
    builder = StateGraph(State, context_schema=HostContext)
    policy: Any = {"steps": [{"stepNumber": 1, "requiresApproval": asked}]}
    builder.add_node("host_node", seal_host_fields(policy))
    builder.add_node("review", build_hitl_gate(step_number=1))
    builder.add_node("ask", llm_step(platform, node="ask", agent_id="@t/a", user="x", outputs=TEXT))
    for before, after in (
        (START, "host_node"),
        ("host_node", "review"),
        ("review", "ask"),
        ("ask", END),
    ):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=InMemorySaver())


def told(events: list[RunEvent]) -> list[tuple[str, str, str]]:
    return [(event.kind, event.name, event.path) for event in events if event.kind != "usage"]


CONFIG: Any = {"configurable": {"thread_id": "t1"}}


def test_a_gate_and_a_step_tell_what_they_do() -> None:
    events: list[RunEvent] = []
    context = host_context(run_id="r1", tell=events.append)
    graph = graph_of(Platform(), asked=True)
    graph.invoke({}, CONFIG, context=context)
    assert told(events) == [("node", "started", "review"), ("node", "paused", "review")]
    events.clear()
    graph.invoke(Command(resume={"approved": True, "by": "ann"}), CONFIG, context=context)
    assert told(events) == [
        ("node", "started", "review"), ("node", "finished", "review"), ("node", "started", "ask"),
        ("effect", "begun", "ask"), ("effect", "done", "ask"), ("node", "finished", "ask"),
    ]  # fmt: skip
    decided: Any = events[1].data["decision"]
    assert (decided["gate"], decided["approved"], decided["by"]) == ("review", True, "ann")


def test_a_skipped_gate_tells_that_nobody_was_asked() -> None:
    events: list[RunEvent] = []
    graph_of(Platform(), asked=False).invoke(
        {}, CONFIG, context=host_context(run_id="r1", tell=events.append)
    )
    (skip,) = [event for event in events if event.kind == "decision"]
    assert (skip.name, skip.path, skip.visit) == ("auto_skipped", "review", 1)
    assert skip.data == {"gate": "review", "node": "review", "step": 1}


def test_a_failure_is_told() -> None:
    events: list[RunEvent] = []
    graph = graph_of(Platform(PlatformUnreachable("no connection", node="ask")), asked=False)
    with pytest.raises(PlatformUnreachable):
        graph.invoke({}, CONFIG, context=host_context(run_id="r1", tell=events.append))
    assert told(events)[-1] == ("node", "failed", "ask")
    assert events[-1].data["code"] == "platform_unreachable"

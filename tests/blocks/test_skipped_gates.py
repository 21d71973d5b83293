"""A node that sends refuses a gate that nobody was asked at, unless the policy itself says so."""

from __future__ import annotations

import itertools
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph

from cinatra_sdk import GovernedState, HostContext, build_hitl_gate, host_context
from cinatra_sdk.blocks import (
    HostOnly,
    child_agent,
    gate_once,
    keep_decision,
    seal_host_fields,
    terminal_node,
    with_strict_serializer,
)
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform

ASKS: dict[str, Any] = {"steps": [{"stepNumber": 2, "requiresApproval": True}]}
WAIVES: dict[str, Any] = {"steps": [{"stepNumber": 2, "requiresApproval": False}]}
SAYS_NOTHING: dict[str, Any] = {"steps": []}


class State(GovernedState):
    goal: str
    review_decision: Annotated[dict[str, Any], HostOnly]
    send_output: Annotated[dict[str, Any], HostOnly]


class Input(TypedDict):
    goal: str


class Counting(SimulatedPlatform):
    made = 0

    def call(self, call: PlatformCall) -> Any:
        self.made += 1
        return super().call(call)


def build(platform: SimulatedPlatform, policy: Any, risk: str) -> Any:
    builder = StateGraph(State, context_schema=HostContext, input_schema=Input)
    builder.add_node("host_node", seal_host_fields(policy))
    gate = build_hitl_gate(
        step_number=2, node="review", values=lambda state: {"goal": state["goal"]},
        write=keep_decision("review_decision", node="review", step_number=2),
    )  # fmt: skip
    builder.add_node("review", gate_once("review_decision", gate))
    builder.add_node(
        "send",
        child_agent(
            platform, node="send", package="@acme/delivery", input_mapping={},
            outputs={"sent": {"type": "integer"}}, needs=("review_decision",), sealed=True,
            risk_class=risk,
        ),
    )  # fmt: skip
    builder.add_node("terminal_node", terminal_node(requires=("send_output",)))
    names = ("host_node", "review", "send", "terminal_node")
    builder.set_entry_point(names[0])
    for before, after in itertools.pairwise(names):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=with_strict_serializer(InMemorySaver()))


@pytest.mark.parametrize(
    ("policy", "risk", "made"),
    [
        (SAYS_NOTHING, "send_external_message", None),
        (None, "email_send", None),
        (WAIVES, "send_external_message", 1),
        (SAYS_NOTHING, "read_only", 1),
        (ASKS, "send_external_message", 0),
    ],
)
def test_a_send_behind_a_skipped_gate(policy: Any, risk: str, made: int | None) -> None:
    platform = Counting()
    graph = build(platform, policy, risk)
    config: Any = {"configurable": {"thread_id": "t"}}
    context = host_context(run_id="r1")
    if made is None:
        with pytest.raises(NodeFailed, match="no entry for step 2"):
            graph.invoke({"goal": "x"}, config, context=context)
    else:
        graph.invoke({"goal": "x"}, config, context=context)
    assert platform.made == (made or 0)

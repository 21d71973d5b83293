"""Graphs that attacks are tried on, each with one call that a person has to approve.

made = GRAPHS["flow"](platform, saver, "line")
made.graph.invoke(made.first, CONFIG)        # waits at its first gate
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import gate_once, keep_decision, seal_host_fields, terminal_node
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from graphs import context_selection, orchestrator_v1
from oas_compiler import compile_flow
from tests.attacks.nested import POLICY, around, asking, hand_written_around, in_a_row
from tests.flows import api, end, flow_node, flow_of, gate, message, start

FUSE = False
"""As graph servers run flows: a superstep per node gives a client more places to write to."""
ERROR: Any = {"$error": {"status": 500, "code": "DOWN", "message": "down"}}


@dataclass(frozen=True, slots=True)
class Made:
    """A graph, and how it is begun."""

    graph: Any
    first: Any
    send: str = "send"
    """The call that needs an approval."""


def flow(*nodes: Any, gates: int = 1) -> Callable[..., Made]:
    def make(platform: Any, saver: Any, effects: Any = "line") -> Made:
        described = flow_of(start(), *nodes, end())
        graph = compile_flow(described, platform=platform).graph(saver, effects=effects, fuse=FUSE)
        return Made(graph, {"inputs": {}})

    return make


def nested(platform: Any, saver: Any, effects: Any = "line") -> Made:
    graph = compile_flow(around(1), platform=platform).graph(saver, effects=effects, fuse=FUSE)
    return Made(graph, {"inputs": {}})


def orchestrator(platform: Any, saver: Any, effects: Any = "line") -> Made:
    graph = orchestrator_v1.build_graph(platform, saver, effects=effects)
    first = {"campaign_goal": "g", "audience": "a", "sender_email": "me@example.com"}
    return Made(graph, first, "stage_4_send")


def selection(platform: Any, saver: Any, effects: Any = "line") -> Made:
    graph = context_selection.build_graph(platform, saver, effects=effects)
    return Made(graph, {"parentPackageName": "@x/y", "slotId": "voice"}, "finalize_interactive")


def hand_written_with_inside(platform: Any, saver: Any, effects: Any = "line") -> Made:
    return Made(hand_written_around(platform, "compiled", saver, effects), {"topic": "x"})


class Input(TypedDict, total=False):
    topic: str


class Other(GovernedState):
    topic: str
    review_decision: Annotated[dict[str, Any], HostOnly]
    note_output: Annotated[dict[str, Any], HostOnly]
    send_output: Annotated[dict[str, Any], HostOnly]


def by_hand(*, gated: bool) -> Callable[..., Made]:
    """host → review → send, where `review` is a gate, or a call that asks nobody."""

    def make(platform: Any, saver: Any, effects: Any = "line") -> Made:
        keep = keep_decision("review_decision", node="review", step_number=1)
        review = gate_once(
            "review_decision", build_hitl_gate(step_number=1, node="review", write=keep)
        )
        nodes = {
            "host": seal_host_fields(POLICY),
            "review": review if gated else asking(platform, "review", effects=effects),
            **({} if gated else {"note": asking(platform, "note", effects=effects)}),
            "send": asking(
                platform, "send", needs=("review_decision",) if gated else (), effects=effects
            ),
            "terminal": terminal_node(requires=("send_output",)),
        }
        builder = StateGraph(
            Other if gated else Ungated, context_schema=HostContext, input_schema=Input
        )
        return Made(in_a_row(builder, nodes).compile(checkpointer=saver), {"topic": "x"})

    return make


class Ungated(Other):
    review_output: Annotated[dict[str, Any], HostOnly]


def foreign(plant: dict[str, Any], saver: Any) -> Any:
    """A stranger's graph on the same server, whose plain keys have names of ours."""
    state: Any = TypedDict("Foreign", dict.fromkeys(plant, Any), total=False)  # type: ignore[misc]
    builder: Any = StateGraph(state)
    return in_a_row(builder, {"only": lambda _state: {}}).compile(checkpointer=saver)


SEND = api("send", risk="email_send")


def same_name_outside(platform: Any, saver: Any, effects: Any = "line") -> Made:
    """A gate inside a subflow, and a call of the same id around it."""
    inside = flow_of(start(), api("draft"), gate("review"), end(), id_="inner0")
    described = flow_of(
        start(), flow_node("child", inside), api("review", risk="email_send"), end()
    )
    graph = compile_flow(described, platform=platform).graph(saver, effects=effects)
    return Made(graph, {"inputs": {}}, "review")


def two_gates_inside(platform: Any, saver: Any, effects: Any = "line") -> Made:
    inside = flow_of(
        start(), api("draft"), gate("review"), api("note"), gate("confirm"), end(), id_="inner0"
    )
    described = flow_of(start(), flow_node("child", inside), SEND, end())
    graph = compile_flow(described, platform=platform).graph(saver, effects=effects)
    return Made(graph, {"inputs": {}})


GRAPHS: dict[str, Callable[..., Made]] = {
    "flow": flow(gate("review"), SEND),
    "calls": flow(api("draft"), gate("review"), SEND),
    "two gates": flow(gate("review"), api("draft"), gate("confirm"), SEND),
    "message in the gate's place": flow(message("review", "hello"), SEND),
    "call in the gate's place": flow(api("review"), SEND),
    "another gate there": flow(gate("review", requiresApproval=False), SEND, api("more")),
    "same nodes, other text": flow(gate("review"), api("send", data={"a": 1}, risk="email_send")),
    "nested": nested,
    "two inside": two_gates_inside,
    "same name outside": same_name_outside,
    "orchestrator": orchestrator,
    "context_selection": selection,
    "around": hand_written_with_inside,
    "hand-written, same names": by_hand(gated=True),
    "hand-written sends": by_hand(gated=False),
}

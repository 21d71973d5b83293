"""Flows and graphs with a gate below another node, and what a client can do to their threads.

around(depth)             start → FlowNode (… → gate "review" → call "note") → call "send" → end
hand_written_around(…)    the same by hand, with a compiled or a hand-written graph inside
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import gate_once, keep_decision, seal_host_fields, terminal_node
from cinatra_sdk.blocks.inner_graph import subgraph
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, port, start

POLICY: Any = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
CONFIG: Any = {"configurable": {"thread_id": "t1"}}
TEXT: Any = {"text": {"type": "string"}}
INTO: Any = {"text": "child_text", "decision": "child_decision"}


def inside(depth: int) -> Any:
    """A flow with a gate at `depth` levels below itself, and a call in front of it."""
    if depth == 0:
        return flow_of(
            start(port("topic", default="x")),
            api("draft", outputs=[port("text")]),
            gate("review"),
            api("note"),
            end(port("text")),
            edges=[("draft", "text", "end", "text")],
            id_="inner0",
        )
    return flow_of(
        start(port("topic", default="x")),
        flow_node(f"level{depth}", inside(depth - 1)),
        end(port("text")),
        edges=[(f"level{depth}", "text", "end", "text")],
        id_=f"inner{depth}",
    )


def around(depth: int) -> Any:
    """A flow that sends once what is `depth` levels below has been approved."""
    return flow_of(
        start(port("topic", default="x")),
        flow_node("child", inside(depth - 1)),
        api("send", inputs=[port("text")], data={"text": "{{ text }}"}, risk="email_send"),
        end(port("text")),
        edges=[("child", "text", "send", "text"), ("child", "text", "end", "text")],
    )


class Input(TypedDict, total=False):
    topic: str
    bearer_token: Annotated[str, HostOnly]
    approval_policy: Annotated[Any, HostOnly]
    run: Annotated[dict[str, Any], HostOnly]


class Output(TypedDict, total=False):
    status: str
    rejected_at: str
    draft_output: Annotated[dict[str, Any], HostOnly]
    review_decision: Annotated[dict[str, Any], HostOnly]


class Inner(GovernedState):
    topic: str
    draft_output: Annotated[dict[str, Any], HostOnly]
    note_output: Annotated[dict[str, Any], HostOnly]
    review_decision: Annotated[dict[str, Any], HostOnly]


class Outer(GovernedState):
    topic: str
    child_text: Annotated[str, HostOnly]
    child_decision: Annotated[dict[str, Any], HostOnly]
    send_output: Annotated[dict[str, Any], HostOnly]


def asking(platform: Any, node: str, **more: Any) -> Any:
    return llm_step(
        platform, node=node, agent_id=f"@t/{node}", user="x", outputs=TEXT, sealed=True, **more
    )


def hand_written_inside(platform: Any) -> Any:
    """host → draft → review (gate) → note → terminal."""
    builder = StateGraph(
        Inner, context_schema=HostContext, input_schema=Input, output_schema=Output
    )
    keep = keep_decision("review_decision", node="review", step_number=1)
    review = build_hitl_gate(step_number=1, node="review", write=keep)
    nodes = {
        "host": seal_host_fields(POLICY),
        "draft": asking(platform, "draft"),
        "review": gate_once("review_decision", review, requires=("draft_output",)),
        "note": asking(platform, "note", needs=("review_decision",)),
        "terminal": terminal_node(requires=("review_decision", "note_output")),
    }
    return in_a_row(builder, nodes).compile()


def hand_written_around(platform: Any, child: str, saver: Any = None, effects: Any = "line") -> Any:
    """host → child → send → terminal; `child` is "compiled" or "by hand"."""
    if child == "compiled":
        described = compile_flow(inside(0), platform=platform).graph()
        block = subgraph(
            described, node="child", inputs={"inputs": {}}, sealed=True, own_policy=True,
            outputs={"text": "{{ outputs.text }}", "decision": "{{ decisions[0] }}"}, into=INTO,
            effects=effects,
        )  # fmt: skip
    else:
        block = subgraph(
            hand_written_inside(platform), node="child", inputs={"topic": "x"}, sealed=True,
            outputs={"text": "{{ draft_output.text }}", "decision": "{{ review_decision }}"}, into=INTO,
            effects=effects,
        )  # fmt: skip
    builder = StateGraph(Outer, context_schema=HostContext, input_schema=Input)
    nodes = {
        "host": seal_host_fields(POLICY),
        "child": block,
        "send": asking(platform, "send", needs=("child_decision",), effects=effects),
        "terminal": terminal_node(requires=("send_output",)),
    }
    return in_a_row(builder, nodes).compile(
        checkpointer=InMemorySaver() if saver is None else saver
    )


def in_a_row(builder: Any, nodes: dict[str, Any]) -> Any:
    names = list(nodes)
    for name, node in nodes.items():
        builder.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder


def levels(graph: Any, config: Any = CONFIG) -> Iterator[Any]:
    """The snapshot of every level that is there, the outermost first."""
    snapshot = graph.get_state(config, subgraphs=True)
    while snapshot is not None and not isinstance(snapshot, dict):
        yield snapshot
        inner = [task.state for task in snapshot.tasks if task.state is not None]
        snapshot = inner[0] if inner else None


def sent(platform: SimulatedPlatform) -> int:
    return [call.node for call in platform.calls].count("send")


def answer(graph: Any, approved: bool, config: Any = CONFIG) -> None:
    """The person at the gate, if it still waits."""
    waiting = graph.get_state(config).interrupts
    if waiting:
        graph.invoke(Command(resume={waiting[0].id: {"approved": approved}}), config)

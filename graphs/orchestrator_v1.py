"""The email outreach orchestrator, written by hand: ten nodes, three gates.

In: `campaign_goal`, `audience`, `sender_email`.  Out: `status`, and the emails that were sent.

    host_node                   the governed keys, sealed
    stage_0                     create the campaign
    stage_1_recipients          child agent: who gets the emails
    hitl_recipients_review      gate, step 2, read_only
    stage_2_generate_drafts     child agent: one draft per recipient
    hitl_drafts_review          gate, step 3, draft_create
    stage_3_ai_review           the model reads the drafts again
    hitl_send_confirmation      gate, step 5, send_external_message
    stage_4_send                child agent: sends
    terminal_node               completed, or rejected

Two mechanisms stop a rejected run: the gate's router leads to `terminal_node`, and every stage does
nothing once `rejected_at` is set.  Each stage also needs the sealed decisions of the gates before
it, so that a jump past a gate (`Command(goto=…)`) reaches a node that refuses to act.

`flow` is for a run store, which keeps its runs in Postgres: `RunStore.open(host=lend())`.
`graph` is for LangGraph Studio: it has no checkpointer, because the server supplies one, and calls
a simulated platform unless `CINATRA_BASE_URL` is set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from typing import Annotated, Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import JsonValue
from typing_extensions import TypedDict

from cinatra_sdk import GovernedState, HostContext, HostParts, Platform, build_hitl_gate, graph_flow
from cinatra_sdk.blocks import (
    Effects,
    GateNode,
    HostOnly,
    NodeRunnable,
    child_agent,
    gate_once,
    keep_decision,
    llm_step,
    on_own_threads,
    seal_host_fields,
    terminal_node,
    with_strict_serializer,
)
from graphs.platform import effects_of, platform_of

__all__ = ["INPUTS", "POLICY", "SAMPLES", "build_durable", "build_graph", "flow", "graph", "lend"]

AGENT: Final = "@cinatra-agents/email-outreach"
POLICY: Final[dict[str, JsonValue]] = {
    "steps": [
        {"stepNumber": 2, "riskClass": "read_only", "requiresApproval": True},
        {"stepNumber": 3, "riskClass": "draft_create", "requiresApproval": True},
        {"stepNumber": 5, "riskClass": "send_external_message", "requiresApproval": True},
    ]
}
"""The approval policy when the host gives none."""
GUARDS: Final = ((5, "hitl_send_confirmation", "stage_4_send"),)

INPUTS: Final[dict[str, dict[str, JsonValue]]] = {
    "campaign_goal": {"type": "string", "minLength": 1},
    "audience": {"type": "string", "minLength": 1},
    "sender_email": {"type": "string", "minLength": 3},
}
RECIPIENTS: Final[dict[str, JsonValue]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"email": {"type": "string"}, "name": {"type": "string"}},
        "required": ["email"],
    },
}
DRAFTS: Final[dict[str, JsonValue]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "email": {"type": "string"},
            "subject": {"type": "string"},
            "body": {"type": "string"},
        },
        "required": ["email", "subject", "body"],
    },
}

NODES: Final = (
    "host_node",
    "stage_0",
    "stage_1_recipients",
    "hitl_recipients_review",
    "stage_2_generate_drafts",
    "hitl_drafts_review",
    "stage_3_ai_review",
    "hitl_send_confirmation",
    "stage_4_send",
    "terminal_node",
)
SAMPLES: Final[dict[str, JsonValue]] = {
    "stage_0": {"campaignId": "campaign-1"},
    "stage_1_recipients": {
        "recipients": [
            {"email": "ada@example.com", "name": "Ada"},
            {"email": "alan@example.com", "name": "Alan"},
        ]
    },
    "stage_2_generate_drafts": {
        "drafts": [
            {"email": "ada@example.com", "subject": "Hello Ada", "body": "Shall we meet?"},
            {"email": "alan@example.com", "subject": "Hello Alan", "body": "Shall we meet?"},
        ]
    },
    "stage_3_ai_review": {"verdict": "accepted", "remarks": "Friendly and short."},
    "stage_4_send": {"sent": 2},
}
"""Answers of the simulated platform in Studio."""

Object = Annotated[dict[str, Any], HostOnly]
"""A value that a node of this graph writes once, sealed; JSON from a caller cannot forge the
seal.
"""


class Input(TypedDict):
    """What a caller sends; a caller cannot set any other key."""

    campaign_goal: str
    audience: str
    sender_email: str


class Output(TypedDict, total=False):
    """What a caller receives."""

    status: str
    rejected_at: str
    stage_4_send_output: dict[str, Any]


class State(GovernedState):
    """Every state key of the ten nodes."""

    campaign_goal: str
    audience: str
    sender_email: str
    input_params: Object
    stage_0_output: Object
    stage_1_recipients_output: Object
    recipients_decision: Object
    stage_2_generate_drafts_output: Object
    drafts_decision: Object
    stage_3_ai_review_output: Object
    send_decision: Object
    stage_4_send_output: Object


def build_graph(
    platform: Platform | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    effects: Effects = "line",
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    """The graph on `platform`: a simulation by default, unless `CINATRA_BASE_URL` is set.

    effects: "forks" lets forks of a thread make calls too.

    To run the graph yourself, give a checkpointer: without a checkpointer no gate can be answered.
    """
    platform = platform if platform is not None else platform_of(os.environ, stubs=SAMPLES)
    builder: StateGraph[Any, HostContext, Any, Any] = StateGraph(
        State, context_schema=HostContext, input_schema=Input, output_schema=Output
    )
    nodes = {**_build_stages(platform, effects), **_build_gates()}
    for name in NODES:
        builder.add_node(name, nodes[name])
    builder.add_edge(START, "host_node")
    builder.add_edge("host_node", "stage_0")
    builder.add_edge("stage_0", "stage_1_recipients")
    builder.add_edge("stage_1_recipients", "hitl_recipients_review")
    _leave_gate(builder, "hitl_recipients_review", "stage_2_generate_drafts")
    builder.add_edge("stage_2_generate_drafts", "hitl_drafts_review")
    _leave_gate(builder, "hitl_drafts_review", "stage_3_ai_review")
    builder.add_edge("stage_3_ai_review", "hitl_send_confirmation")
    _leave_gate(builder, "hitl_send_confirmation", "stage_4_send")
    builder.add_edge("stage_4_send", "terminal_node")
    builder.add_edge("terminal_node", END)
    saver = None if checkpointer is None else with_strict_serializer(checkpointer)
    return builder.compile(checkpointer=saver, name="orchestrator_v1")


def _leave_gate(builder: StateGraph[Any, Any, Any, Any], gate: str, following: str) -> None:
    routes: dict[Hashable, str] = {"go on": following, "rejected": "terminal_node"}

    def route(state: Mapping[str, Any]) -> str:
        return "rejected" if state.get("rejected_at") else "go on"

    builder.add_conditional_edges(gate, route, routes)


def _build_stages(platform: Platform, effects: Effects) -> dict[str, NodeRunnable]:
    return {
        "host_node": seal_host_fields(POLICY, inputs=INPUTS, guards=GUARDS),
        "stage_0": llm_step(
            platform,
            effects=effects,
            node="stage_0",
            agent_id=AGENT,
            system="You create email campaigns.  Answer with the id of the new campaign.",
            user="Create a campaign from {{ input_params.sender_email }} with this goal: "
            "{{ input_params.campaign_goal }}",
            outputs={"campaignId": {"type": "string"}},
            sealed=True,
            risk_class="write",
        ),
        "stage_1_recipients": child_agent(
            platform,
            effects=effects,
            node="stage_1_recipients",
            package="@cinatra-agents/email-recipients",
            after="stage_0",
            input_mapping={
                "campaignId": "{{child_output.campaignId}}",
                "audience": "{{input_params.audience}}",
            },
            outputs={"recipients": RECIPIENTS},
            sealed=True,
        ),
        "stage_2_generate_drafts": child_agent(
            platform,
            effects=effects,
            node="stage_2_generate_drafts",
            package="@cinatra-agents/email-drafts",
            input_mapping={
                "campaignId": "{{stage_0_output.campaignId}}",
                "goal": "{{input_params.campaign_goal}}",
                "recipients": "{{stage_1_recipients_output.recipients}}",
            },
            outputs={"drafts": DRAFTS},
            needs=("recipients_decision",),
            sealed=True,
            risk_class="draft_create",
        ),
        "stage_3_ai_review": llm_step(
            platform,
            effects=effects,
            node="stage_3_ai_review",
            agent_id=AGENT,
            after="stage_2_generate_drafts",
            system="You review email drafts for tone, facts and spam signals.",
            user="Goal: {{ input_params.campaign_goal }}\nDrafts: {{ child_output.drafts | tojson }}",
            outputs={"verdict": {"type": "string"}, "remarks": {"type": "string", "default": ""}},
            needs=("recipients_decision", "drafts_decision"),
            sealed=True,
        ),
        "stage_4_send": child_agent(
            platform,
            effects=effects,
            node="stage_4_send",
            package="@cinatra-agents/email-delivery",
            input_mapping={
                "campaignId": "{{stage_0_output.campaignId}}",
                "senderEmail": "{{input_params.sender_email}}",
                "drafts": "{{stage_2_generate_drafts_output.drafts}}",
            },
            outputs={"sent": {"type": "integer"}},
            needs=("recipients_decision", "drafts_decision", "send_decision"),
            sealed=True,
            risk_class="send_external_message",
        ),
        "terminal_node": terminal_node(requires=("stage_4_send_output",)),
    }


def _build_gates() -> dict[str, Any]:
    return {
        "hitl_recipients_review": _build_gate(
            "hitl_recipients_review",
            step_number=2,
            decision="recipients_decision",
            renderer="@cinatra-agents/email-recipients:output",
            risk_class="read_only",
            shows=_recipients_shown,
        ),
        "hitl_drafts_review": _build_gate(
            "hitl_drafts_review",
            step_number=3,
            decision="drafts_decision",
            renderer="@cinatra-agents/email-drafts:output",
            risk_class="draft_create",
            shows=_drafts_shown,
        ),
        "hitl_send_confirmation": _build_gate(
            "hitl_send_confirmation",
            step_number=5,
            decision="send_decision",
            renderer="@cinatra-agents/email-delivery:send-confirmation",
            risk_class="send_external_message",
            shows=_sending_shown,
        ),
    }


def _build_gate(
    node: str,
    *,
    step_number: int,
    decision: str,
    renderer: str,
    risk_class: str,
    shows: Callable[[Mapping[str, Any]], dict[str, JsonValue]],
) -> GateNode:
    """A gate that asks once and keeps its decision sealed."""
    asking = build_hitl_gate(
        step_number=step_number,
        node=node,
        renderer=renderer,
        risk_class=risk_class,
        values=shows,
        write=keep_decision(decision, node=node, step_number=step_number),
    )
    return gate_once(decision, asking, requires=_BEFORE[node])


_BEFORE: Final = {
    "hitl_recipients_review": ("stage_0_output", "stage_1_recipients_output"),
    "hitl_drafts_review": ("stage_0_output", "stage_2_generate_drafts_output"),
    "hitl_send_confirmation": ("stage_1_recipients_output", "stage_3_ai_review_output"),
}
"""The state keys that each gate shows, and therefore requires."""


def _recipients_shown(state: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {
        "campaignId": state["stage_0_output"]["campaignId"],
        "recipients": state["stage_1_recipients_output"]["recipients"],
    }


def _drafts_shown(state: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {
        "campaignId": state["stage_0_output"]["campaignId"],
        "drafts": state["stage_2_generate_drafts_output"]["drafts"],
    }


def _sending_shown(state: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {
        "campaignId": state["stage_0_output"]["campaignId"],
        "senderEmail": state["input_params"]["sender_email"],
        "recipientCount": len(state["stage_1_recipients_output"]["recipients"]),
        "review": state["stage_3_ai_review_output"],
    }


def build_durable(
    host: HostParts, checkpointer: BaseCheckpointSaver[Any] | None
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    return build_graph(host.platform, checkpointer)


flow = graph_flow(build_durable, inputs=INPUTS, policy=POLICY, guards=GUARDS)


def lend() -> HostParts:
    """What a process needs to go on with runs of this graph: `--host graphs.orchestrator_v1:lend`."""
    return HostParts(graphs=[flow])


graph = on_own_threads(build_graph(effects=effects_of(os.environ)))

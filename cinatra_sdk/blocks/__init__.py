"""Nodes for graphs that are written by hand.

host_node.py       the first node, which seals the host's keys; the last node, which ends the run
step.py            `Step`: inputs from templates, outputs under one key
platform_steps.py  a child agent, and a question to a model, through the platform
inner_graph.py     another graph inside a node
proposal_graph.py  a change of tastes or notes that a person approves
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.activations import advance
    from cinatra_sdk.blocks.host_node import (
        end_of,
        ending,
        gate_once,
        keep_decision,
        seal_host_fields,
        terminal_node,
    )
    from cinatra_sdk.blocks.inner_graph import subgraph
    from cinatra_sdk.blocks.platform_steps import child_agent, llm_step
    from cinatra_sdk.blocks.proposal_graph import build_proposing_graph, propose_and_confirm
    from cinatra_sdk.blocks.step import NodeRunnable, PlatformStep, StateKeyMissing, Step, node_of
    from cinatra_sdk.gates.gate import gate_id, gate_of
    from cinatra_sdk.gates.hitl import GateNode, Outcome, gate_visit
    from cinatra_sdk.langgraph_threads.graph_input import on_own_threads
    from cinatra_sdk.langgraph_threads.host_context import Effects, context_of
    from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER, with_strict_serializer
    from cinatra_sdk.langgraph_threads.state_channels import (
        Appended,
        HostOnly,
        Latest,
        has_ended,
        seal,
    )
    from cinatra_sdk.langgraph_threads.tasks import was_sent
    from cinatra_sdk.runs import Stop

_LATER: Final = {
    "seal_host_fields": "blocks.host_node",
    "terminal_node": "blocks.host_node",
    "ending": "blocks.host_node",
    "end_of": "blocks.host_node",
    "keep_decision": "blocks.host_node",
    "gate_once": "blocks.host_node",
    "llm_step": "blocks.platform_steps",
    "child_agent": "blocks.platform_steps",
    "subgraph": "blocks.inner_graph",
    "propose_and_confirm": "blocks.proposal_graph",
    "build_proposing_graph": "blocks.proposal_graph",
    "NodeRunnable": "blocks.step",
    "PlatformStep": "blocks.step",
    "Step": "blocks.step",
    "StateKeyMissing": "blocks.step",
    "node_of": "blocks.step",
    "HostOnly": "langgraph_threads.state_channels",
    "Appended": "langgraph_threads.state_channels",
    "Latest": "langgraph_threads.state_channels",
    "seal": "langgraph_threads.state_channels",
    "has_ended": "langgraph_threads.state_channels",
    "Effects": "langgraph_threads.host_context",
    "context_of": "langgraph_threads.host_context",
    "with_strict_serializer": "langgraph_threads.serializer",
    "STRICT_SERIALIZER": "langgraph_threads.serializer",
    "on_own_threads": "langgraph_threads.graph_input",
    "was_sent": "langgraph_threads.tasks",
    "gate_id": "gates.gate",
    "gate_of": "gates.gate",
    "GateNode": "gates.hitl",
    "Outcome": "gates.hitl",
    "gate_visit": "gates.hitl",
    "advance": "activations",
    "Stop": "runs",
}

__all__ = [
    "seal_host_fields",
    "terminal_node",
    "ending",
    "end_of",
    "keep_decision",
    "gate_once",
    "llm_step",
    "child_agent",
    "subgraph",
    "propose_and_confirm",
    "build_proposing_graph",
    "NodeRunnable",
    "PlatformStep",
    "Step",
    "StateKeyMissing",
    "node_of",
    "HostOnly",
    "Appended",
    "Latest",
    "seal",
    "has_ended",
    "Effects",
    "context_of",
    "with_strict_serializer",
    "STRICT_SERIALIZER",
    "on_own_threads",
    "was_sent",
    "gate_id",
    "gate_of",
    "GateNode",
    "Outcome",
    "gate_visit",
    "advance",
    "Stop",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

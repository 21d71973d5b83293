"""A governed run: the canonical loop of the ContextOS execution contract, as a graph.

In: `request`, an invokeAgent envelope.  Out: `outputs.decision_record`, `outputs.decision`.

    admit → compile → plan → verify ──ok──→ step ⇄ gate
                        ↑       │ replan      │
                        ├───────┘             ↓
                        └────── replan ── score ──accept──→ consolidate → record → end
                                             │ escalate                    ↑
                                             └─────────────────────────────┘

A planner proposes calls, a critic verifies the plan, and the gateway checks each call: offered, permitted,
within its mode, delegated, approved, within the budget.  A call is one effect of the run, made once per key.
A gate is a node of its own, and exactly the approved call is sent.  A rejection ends the run.  Where nobody
may decide, the run is escalated: it stops, and a person may resume it from there once the host gives more
budget.

    parts = HostParts(tools={…}, governance=Governance(registry=FolderRegistry("packs"), planner=…))
    store = RunStore.open(host=parts.with_parts(graphs=[flow]))
    run = store.start(flow.lent(parts), {"request": envelope}, tenant="tenant_acme_prod")
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import JsonValue

from cinatra_sdk import HostContext, HostParts, graph_flow
from cinatra_sdk.blocks import Effects, seal_host_fields, with_strict_serializer
from cinatra_sdk.governance.loop.loop_nodes import make_nodes, route
from cinatra_sdk.governance.loop.loop_state import NODES, LoopInput, LoopOutput, LoopState

__all__ = ["INPUTS", "build", "build_graph", "flow"]

INPUTS: Final[dict[str, dict[str, JsonValue]]] = {"request": {"type": "object"}}
HOST_NODE: Final = "host_node"


def build_graph(
    parts: HostParts,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    effects: Effects = "line",
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    """The loop with what the host lends: its `tools`, and its `governance` with packs and planner.

    To run the graph yourself, give a checkpointer: without one no gate can be answered.
    Raises: `NotConfigured` where the host lends no governance.
    """
    builder: StateGraph[Any, HostContext, Any, Any] = StateGraph(
        LoopState, context_schema=HostContext, input_schema=LoopInput, output_schema=LoopOutput
    )
    builder.add_node(HOST_NODE, seal_host_fields({"steps": []}, inputs=INPUTS))
    made = make_nodes(parts, effects=effects)
    ways: dict[Hashable, str] = {**{name: name for name in NODES}, END: END}
    for name in NODES:
        builder.add_node(name, made[name])
        builder.add_conditional_edges(name, route, ways)
    builder.add_edge(START, HOST_NODE)
    builder.add_edge(HOST_NODE, "admit")
    saver = None if checkpointer is None else with_strict_serializer(checkpointer)
    return builder.compile(checkpointer=saver, name="governed_run")


def build(
    parts: HostParts, checkpointer: BaseCheckpointSaver[Any] | None
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    return build_graph(parts, checkpointer)


flow = graph_flow(build, inputs=INPUTS, name="governed_run", governed=True)

"""Running governed flows: gates, durable runs, the platform seam.  Knows nothing of OAS files.

The folders and modules, from the ground up; each imports only those above it here:

    light_imports     names imported on first use; dataclasses that are cheap to import
    errors contract   the error tree, and the words that both packages obey
    threads           functions that may block, called beside the event loop
    events            what happens in a run, told to whoever watches
    langgraph_internals   every private name of LangGraph, and what is made of it
    data              JSON values, schemas, patterns, texts and templates, each within bounds
    governed          what only the host sets, and credentials that stay where they are
    tool_loop         the loop of a model and its tools, as pure steps
    first_turn        what an agent reads before its first turn
    context           context slots: pure rules of what may be chosen
    attachments       files that go with a question to a model: refs, never bytes
    outside           whatever leaves the process: effects, the platform, models, MCP, A2A
    models platform effects   the public paths to what is in `outside`
    langgraph_threads what the SDK asks of a thread of LangGraph: its state, its line, the host's context
    host_parts        what a process lends to the flows that it runs
    gates             pausing for a person
    hitl              the gate, by the name under which the agent guide imports it
    flow              what the nodes of a compiled flow do when they run
    blocks            nodes for graphs that are written by hand
    runs              one run as records
    api               what every surface tells as JSON, and whether a person may do something
    postgres          connections, tables and roles of a database
    agents            a model that calls tools until it has an answer, as nodes of a flow
    activations       one run, driven from stop to stop
    local_postgres    the embedded server of one user on one machine
    governance        governed runs: packs, policies, the gateway, decision records
    testing           driving a flow in memory
    store             every run in Postgres
    host              a local platform: its routes, its language models, its tools
    bridge passthrough   the public paths to two of these routes
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.errors import (
        AnswerInvalid,
        CheckpointsUnusable,
        ChildWaits,
        ChoiceGone,
        ContextMismatch,
        EffectDiffers,
        EffectRefused,
        EffectSettled,
        EffectUnknown,
        EngineUnsupported,
        FenceLost,
        FlowChanged,
        FlowError,
        ForkRefused,
        GateChanged,
        GateClosed,
        GateNotFound,
        GateUnreadable,
        HostRefused,
        InputInvalid,
        KindRefused,
        LimitExceeded,
        NodeFailed,
        NotAdopted,
        NotAllowed,
        NotConfigured,
        NotReplicated,
        PlaceholderRefused,
        PolicyInvalid,
        ProcessEnding,
        RunBusy,
        RunEnded,
        RunExists,
        RunNotCompleted,
        RunNotEnded,
        RunNotFound,
        ShownDiffers,
        StoreError,
        StoreUnreachable,
        ValueRefused,
    )
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.gates.hitl import build_hitl_gate
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
    from cinatra_sdk.langgraph_threads.state_channels import GovernedState
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
    from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformError
    from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store import RunStore
    from cinatra_sdk.store.flows.graph_flow import graph_flow

FLOORS: Final = (
    "light_imports", "errors", "threads", "contract", "events", "langgraph_internals", "data", "governed",
    "tool_loop", "first_turn", "context", "attachments", "outside", "models", "platform", "effects",
    "langgraph_threads", "host_parts", "gates", "hitl", "flow", "blocks", "runs", "api", "postgres", "agents", "activations",
    "local_postgres", "governance", "testing", "store", "host", "bridge", "passthrough",
)  # fmt: skip
"""From the ground up: a folder imports only those before it (tests/test_layers.py)."""

# No module here is called like a name below: importing the module would hide the name.
__version__: Final = "0.1.0"
"""Of the distribution `oasflow`, which holds this package and `oas_compiler`."""

__all__ = [
    "Decision",
    "Gate",
    "GovernedState",
    "HostContext",
    "host_context",
    "HostParts",
    "HttpPlatform",
    "Platform",
    "SimulatedPlatform",
    "Run",
    "RunStore",
    "build_hitl_gate",
    "graph_flow",
    "AnswerInvalid",
    "CheckpointsUnusable",
    "ChoiceGone",
    "ContextMismatch",
    "EffectDiffers",
    "EffectRefused",
    "EffectSettled",
    "ChildWaits",
    "EffectUnknown",
    "EngineUnsupported",
    "FenceLost",
    "FlowChanged",
    "FlowError",
    "ForkRefused",
    "GateChanged",
    "GateClosed",
    "GateNotFound",
    "GateUnreadable",
    "HostRefused",
    "InputInvalid",
    "KindRefused",
    "LimitExceeded",
    "NodeFailed",
    "NotAdopted",
    "NotAllowed",
    "NotConfigured",
    "NotReplicated",
    "PlaceholderRefused",
    "PolicyInvalid",
    "ProcessEnding",
    "RunBusy",
    "RunEnded",
    "RunExists",
    "RunNotCompleted",
    "RunNotEnded",
    "RunNotFound",
    "ShownDiffers",
    "StoreError",
    "StoreUnreachable",
    "ValueRefused",
    "PlatformError",
]

_LATER: Final = dict.fromkeys(__all__, "errors") | {
    "Decision": "gates.decisions",
    "Gate": "gates.gate",
    "GovernedState": "langgraph_threads.state_channels",
    "HostContext": "langgraph_threads.host_context",
    "host_context": "langgraph_threads.host_context",
    "HostParts": "host_parts.host_parts",
    "HttpPlatform": "outside.http_calls.http_platform",
    "Platform": "outside.http_calls.protocol",
    "SimulatedPlatform": "outside.http_calls.simulation",
    "Run": "runs",
    "RunStore": "store",
    "build_hitl_gate": "gates.hitl",
    "graph_flow": "store.flows.graph_flow",
    "PlatformError": "outside.http_calls.protocol",
}
"""Of each name its module: the errors are by far the most."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

"""Running governed flows: gates, durable runs, the platform seam.  Knows nothing of OAS files.

The folders and modules, from the ground up; each imports only those above it here:

    errors contract   the error tree, and the words that both packages obey
    threads           functions that may block, called beside the event loop
    text              texts and files, read strictly
    values            JSON values, schemas and patterns, within one budget of work
    first_turn        what an agent reads before its first turn
    templates         the language of templates
    governed          what only the host sets: sealed state, policy, secrets
    context           context slots: pure rules of what may be chosen
    platform          the one seam to the outside
    remote            servers and agents elsewhere: bounds, and what counts as an answer
    events            what happens in a run, told to whoever watches
    effects           the one door of whatever a node does outside of its run
    attachments       files that go with a question to a model: refs, never bytes
    models            chat models behind one seam: lent by the host, or connected
    engine            everything the SDK asks of LangGraph: where a node stands, whether it may act
    lending           what a process lends to the flows that it runs
    gates             pausing for a person
    hitl              the gate, by the name under which the agent guide imports it
    flow              what the nodes of a compiled flow do when they run
    mcp               tools of MCP servers, as nodes of a flow
    a2a               agents behind the protocol A2A, as nodes of a flow
    agents            a model that calls tools until it has an answer, as nodes of a flow
    runs advancing    one run as records; driven from stop to stop
    blocks            nodes for graphs that are written by hand
    governance        governed runs: packs, policies, the gateway, decision records
    testing           driving a flow in memory
    postgres          connections, tables, the embedded server
    store             every run in Postgres
    routed            a platform made of functions, one for each named route
    bridge            the route through which a flow asks a language model
    passthrough       the route through which a flow calls a tool of the host by its name
    host              a local platform that answers for context slots
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.engine.runtime_context import HostContext, host_context
    from cinatra_sdk.errors import (
        AnswerInvalid,
        ContextMismatch,
        EngineUnsupported,
        FlowChanged,
        FlowError,
        GateClosed,
        InputInvalid,
        KindRefused,
        LimitExceeded,
        NodeFailed,
        NotConfigured,
        PlaceholderRefused,
        PolicyInvalid,
        RunBusy,
        RunEnded,
        RunNotCompleted,
        RunNotFound,
        StoreError,
        ValueRefused,
    )
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.gates.hitl import build_hitl_gate
    from cinatra_sdk.governed.state import GovernedState
    from cinatra_sdk.lending.host_parts import HostParts
    from cinatra_sdk.platform import HttpPlatform, Platform, PlatformError, SimulatedPlatform
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store import RunStore
    from cinatra_sdk.store.graph_flow import graph_flow

FLOORS: Final = (
    "errors", "threads", "contract", "text", "values", "first_turn", "templates", "governed", "context", "platform",
    "remote", "events", "effects", "attachments", "models", "engine", "lending", "gates", "hitl", "flow", "mcp", "a2a", "agents", "runs", "advancing", "blocks", "governance", "testing", "postgres", "store", "routed", "bridge", "passthrough", "host",
)  # fmt: skip
"""From the ground up: a folder imports only those before it (tests/test_layers.py)."""

# No module here is called like a name below: importing the module would hide the name.
_LATER = {
    "Decision": "gates.decisions",
    "AnswerInvalid": "errors",
    "ContextMismatch": "errors",
    "EngineUnsupported": "errors",
    "FlowChanged": "errors",
    "FlowError": "errors",
    "GateClosed": "errors",
    "InputInvalid": "errors",
    "KindRefused": "errors",
    "LimitExceeded": "errors",
    "NodeFailed": "errors",
    "NotConfigured": "errors",
    "PlaceholderRefused": "errors",
    "PolicyInvalid": "errors",
    "RunBusy": "errors",
    "RunEnded": "errors",
    "RunNotCompleted": "errors",
    "RunNotFound": "errors",
    "StoreError": "errors",
    "ValueRefused": "errors",
    "HostContext": "engine.runtime_context",
    "host_context": "engine.runtime_context",
    "Gate": "gates.gate",
    "build_hitl_gate": "gates.hitl",
    "HttpPlatform": "platform",
    "Platform": "platform",
    "PlatformError": "platform",
    "SimulatedPlatform": "platform",
    "Run": "runs",
    "GovernedState": "governed.state",
    "HostParts": "lending.host_parts",
    "RunStore": "store",
    "graph_flow": "store.graph_flow",
}

__all__ = [
    "Decision",
    "Gate",
    "GovernedState",
    "HostContext",
    "HostParts",
    "HttpPlatform",
    "Platform",
    "Run",
    "RunStore",
    "SimulatedPlatform",
    "build_hitl_gate",
    "graph_flow",
    "host_context",
    "FlowError",
    "AnswerInvalid",
    "ContextMismatch",
    "EngineUnsupported",
    "FlowChanged",
    "GateClosed",
    "InputInvalid",
    "KindRefused",
    "LimitExceeded",
    "NodeFailed",
    "NotConfigured",
    "PlaceholderRefused",
    "PlatformError",
    "PolicyInvalid",
    "RunBusy",
    "RunEnded",
    "RunNotCompleted",
    "RunNotFound",
    "StoreError",
    "ValueRefused",
]


def __getattr__(name: str) -> Any:
    # A name is imported on first use: checking a file needs no LangGraph and no database.
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.{_LATER[name]}"), name)

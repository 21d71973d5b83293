"""Running governed flows: gates, durable runs, the platform seam.  Knows nothing of OAS files.

state, context, policy     what only the host sets, and what wins
hitl, gates, answers       pausing for a person
runs, advancing, store/    one run as records; driven from stop to stop; every run in Postgres
platform/, templates       the one seam to the outside
testing                    driving a flow in memory
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from cinatra_sdk.platform import HttpPlatform, Platform, PlatformError, SimulatedPlatform
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store import RunStore

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
    "RunStore": "store",
}

__all__ = [
    "Decision",
    "Gate",
    "GovernedState",
    "HostContext",
    "HttpPlatform",
    "Platform",
    "Run",
    "RunStore",
    "SimulatedPlatform",
    "build_hitl_gate",
    "host_context",
    "FlowError",
    "AnswerInvalid",
    "ContextMismatch",
    "EngineUnsupported",
    "FlowChanged",
    "GateClosed",
    "InputInvalid",
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
    # Everything is imported by whoever uses it: checking a file needs no LangGraph and no database.
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.{_LATER[name]}"), name)

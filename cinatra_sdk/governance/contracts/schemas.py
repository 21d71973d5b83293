"""The JSON Schemas of the governance contract, by name, under one version.

    schema_of("ToolCallEnvelope")["$id"]    "urn:oasflow:governance:1:ToolCallEnvelope"

A change that refuses what was accepted before gets a new version; `docs/schemas/governance` holds
every version that was published, and a test compares the newest with the code.
"""

from __future__ import annotations

from typing import Any, Final

from cinatra_sdk.governance.contracts.context_pack import (
    CompiledContext,
    ContextPack,
    DecisionCatalog,
    PolicyDecision,
)
from cinatra_sdk.governance.contracts.decision_record import (
    DecisionRecord,
    MemoryProposal,
    MemoryReview,
    ReplayPacket,
)
from cinatra_sdk.governance.contracts.invocation import (
    AgentIdentity,
    IdentityClaim,
    InvokeAgent,
    RunContext,
    ToolCallEnvelope,
    ToolResultEnvelope,
    TraceContext,
)
from cinatra_sdk.governance.contracts.plans import CriticReport, DecisionOutput, DecisionSpec, Plan
from cinatra_sdk.governance.contracts.record_format import Contract

VERSION: Final = "1"
CONTRACTS: Final[dict[str, type[Contract]]] = {
    one.__name__: one
    for one in (
        RunContext,
        InvokeAgent,
        AgentIdentity,
        IdentityClaim,
        ToolCallEnvelope,
        ToolResultEnvelope,
        DecisionRecord,
        CompiledContext,
        ContextPack,
        DecisionCatalog,
        DecisionSpec,
        DecisionOutput,
        Plan,
        PolicyDecision,
        CriticReport,
        MemoryProposal,
        MemoryReview,
        ReplayPacket,
        TraceContext,
    )
}


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of a contract, with the name and version that it has for good."""
    made = CONTRACTS[name].model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:oasflow:governance:{VERSION}:{name}",
        **made,
    }

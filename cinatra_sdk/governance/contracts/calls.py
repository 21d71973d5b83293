"""The envelope of a call of a tool, and the envelope of what came of it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from cinatra_sdk.governance.contracts.contract import AnyJson, Contract, JsonObject
from cinatra_sdk.governance.contracts.identifiers import (
    ApprovalMode,
    CapabilityId,
    EvidenceRef,
    Id,
    TraceId,
)
from cinatra_sdk.governance.contracts.identity import Principal
from cinatra_sdk.governance.refusals import ToolResultStatus

CALL_VERSION: Final = "contextos.tool_call.v1"
RESULT_VERSION: Final = "contextos.tool_result.v1"


class ToolCallEnvelope(Contract):
    """One call that leaves a governed run, as the gateway sees it.  Holds no secret."""

    envelope_version: Literal["contextos.tool_call.v1"]
    tool_call_id: Id
    run_id: Id
    trace_id: TraceId
    session_id: Id | None = None
    capability_id: CapabilityId
    args: JsonObject
    principal_chain: tuple[Principal, ...]
    approval_mode_requested: ApprovalMode
    """What the plan, or the node, says of the call."""
    approval_mode_effective: ApprovalMode
    """What the call counts as, by its adapter and the policy."""
    approval_mode_highest: ApprovalMode
    """The riskiest mode that the adapter declares; nothing goes beyond it."""
    policy_decision_id: Id | None = None
    evidence_refs: tuple[EvidenceRef, ...]
    idempotency_key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    auth_ref: str | None = None
    """`claim_hash:sha256:…`."""
    metadata: JsonObject = Field(default_factory=dict)


class Citation(Contract):
    evidence_ref: EvidenceRef


class ToolResultEnvelope(Contract):
    """What came of a call."""

    envelope_version: Literal["contextos.tool_result.v1"]
    tool_call_id: Id
    run_id: Id
    trace_id: TraceId
    session_id: Id | None = None
    capability_id: CapabilityId
    status: ToolResultStatus
    output: AnyJson = None
    error: JsonObject | None = None
    """`{"code": …, "message": …}`."""
    artifacts: tuple[AnyJson, ...] = ()
    citations: tuple[Citation, ...] = ()
    mutations: tuple[str, ...] = ()
    """What the call changed outside of the run."""
    risk_tags: tuple[str, ...] = ()
    policy_decision_id: Id | None = None
    latency_ms: Annotated[int, Field(ge=0)] | None = None
    metadata: JsonObject = Field(default_factory=dict)

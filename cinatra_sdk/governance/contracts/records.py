"""DecisionRecord: what a run came to, who decided it, and on which grounds.

Append-only: a correction is a new record that names the one it corrects.  `record_hash` is over the
canonical JSON of all other members but `signature`; `previous_record_hash` chains the records of a run.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field

from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.contracts.compiled import RuntimeControls
from cinatra_sdk.governance.contracts.contract import Contract, JsonObject
from cinatra_sdk.governance.contracts.decisions import Alternative
from cinatra_sdk.governance.contracts.identifiers import (
    ApprovalMode,
    EvidenceRef,
    Id,
    PackRef,
    Sha256,
    TraceId,
    Words,
)
from cinatra_sdk.governance.contracts.identity import Principal
from cinatra_sdk.governance.contracts.run_context import Cents, Count

RecordStatus = Literal["DECIDED", "DEFERRED", "REJECTED", "ESCALATED", "IN_FLIGHT", "CLOSED"]
Time = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]{1,6})?(?:Z|\+00:00)$")
]
"""UTC."""


class RecordActor(Contract):
    type: Literal["AGENT", "USER", "SERVICE", "AUTOMATION"]
    id: Id


class RecordIdentity(Contract):
    subject: str
    claim_hash: Sha256
    principal_chain: tuple[Principal, ...]


class RecordPolicyDecision(Contract):
    policy_decision_id: Id
    rule_ids: tuple[str, ...]


class RecordApproval(Contract):
    gate_id: Id
    approver: str
    approval_mode_effective: ApprovalMode
    evidence_snapshot_hash: Sha256
    decided_at: Time
    decision: Literal["approved", "rejected", "denied"] | None = None
    """Absent: approved."""


class Rationale(Contract):
    strategy: str
    alternatives_considered: tuple[Alternative, ...]
    reasons: tuple[str, ...] = ()


class BudgetUsage(Contract):
    tokens: Count
    tool_calls: Count
    cost_usd_cents: Cents
    wall_clock_ms: Count
    replans: Count = 0


class Lineage(Contract):
    pack_version: PackRef
    snapshot_version: str


class RecordSignature(Contract):
    """Made with the host's key over `record_hash`."""

    kid: str
    alg: str
    value: str


class DecisionRecord(Contract):
    record_id: Id
    decision_key: Id
    decision_version: str
    timestamp: Time
    status: RecordStatus
    outcome: str | None = None
    """One of those that the decision allows; given where the status is DECIDED."""
    actor: RecordActor
    agent_identity: RecordIdentity
    intent_ref: str
    subject_ids: tuple[str, ...]
    inputs_refs: JsonObject
    outputs: JsonObject
    statements: JsonObject = Field(default_factory=dict)
    """The planner's own words, which no result says; absent where there are none."""
    evidence_refs: tuple[EvidenceRef, ...]
    policy_decisions: tuple[RecordPolicyDecision, ...]
    approvals: tuple[RecordApproval, ...]
    controls_active: RuntimeControls
    confidence: Annotated[float, Field(ge=0, le=1)]
    rationale: Rationale
    budget_usage: BudgetUsage
    lineage: Lineage
    trace_id: TraceId
    scorecard: dict[str, float] = Field(default_factory=dict)
    reason: Words = ""
    """Why the run was rejected, escalated or failed."""
    sequence: Annotated[int, Field(ge=1)] | None = None
    """The number of the record among those of its run."""
    corrects: Id | None = None
    previous_record_hash: Sha256 | None = None
    record_hash: Sha256 | None = None
    signature: RecordSignature | None = None

    def compute_hash(self) -> str:
        """The hash that `record_hash` has to be."""
        return hash_of(hashed_part(self.to_json()))

    def sealed(self) -> Self:
        """The record with its hash."""
        return self.model_copy(update={"record_hash": self.compute_hash()})

    @property
    def is_intact(self) -> bool:
        return self.record_hash == self.compute_hash()


def hashed_part(record: dict[str, Any]) -> dict[str, Any]:
    """What the hash of a record is over."""
    return {key: one for key, one in record.items() if key not in ("record_hash", "signature")}

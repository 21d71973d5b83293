"""`DecisionRecord`: the outcome of a run, who decided it, and on which grounds.

Append-only: a correction is a new record that names the corrected record.  `record_hash` covers the
canonical JSON of all other members but `signature`; `previous_record_hash` chains the records of a run.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field

from cinatra_sdk.governance.contracts.context_pack import RuntimeControls, WriteClass
from cinatra_sdk.governance.contracts.invocation import Cents, Count, Principal
from cinatra_sdk.governance.contracts.plans import Alternative
from cinatra_sdk.governance.contracts.record_format import (
    AnyJson,
    ApprovalMode,
    Contract,
    EvidenceRef,
    Id,
    JsonObject,
    PackRef,
    Sha256,
    TraceId,
    Words,
    hash_of,
)

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


# ----------------------------------------------------------------------------
# ReplayPacket: what is needed to derive a decision again, without a live effect.


class ReplayExpected(Contract):
    status: RecordStatus
    decision_record_hash: Sha256 | None = None
    scorecard: dict[str, float] = Field(default_factory=dict)
    properties: tuple[str, ...] = ()


class ReplayResult(Contract):
    status: Literal[
        "not_run",
        "replay_equal",
        "replay_mismatch",
        "fixed",
        "still_failing",
        "invalid",
        "superseded",
    ]
    eval_run_id: str | None = None
    score: float | None = None
    diff_refs: tuple[str, ...] = ()
    updated_at: Time | None = None


class ReplayPacket(Contract):
    replay_packet_id: Id
    trace_id: TraceId
    source_kind: Literal[
        "decision_record",
        "quality_replay_case",
        "environment_episode",
        "operator_correction",
        "golden_case",
    ]
    source_ref: str
    context_pack_ref: PackRef
    compiled_context_hash: Sha256
    side_effect_policy: Annotated[
        Literal["transcript_only", "sandbox", "live_disallowed"],
        Field(description="No value lets a replay act outside."),
    ]
    expected: ReplayExpected
    session_id: Id | None = None
    run_context_ref: str | None = None
    knowledge_snapshot_ref: str | None = None
    tool_transcript_chain_hash: Sha256 | None = None
    latest_result: ReplayResult | None = None


# ----------------------------------------------------------------------------
# Proposals of a run to remember something, and the word of a reviewer.


class MemoryCandidate(Contract):
    entity_ceid: Id
    predicate: Id
    value: AnyJson
    evidence_refs: tuple[EvidenceRef, ...]
    confidence: Annotated[float, Field(ge=0, le=1)]


class ContradictionCheck(Contract):
    existing: AnyJson = None
    verdict: Literal["none", "supports", "contradicts", "unchecked"]


class MemoryProposal(Contract):
    """Nothing of it is compiled into a context before a reviewer has promoted it."""

    proposal_id: Id
    candidate: MemoryCandidate
    write_class: WriteClass = Field(alias="class")
    tier_target: Literal["working", "episodic", "semantic", "durable"]
    consent_check: Literal["granted", "denied", "not_required"]
    contradiction_check: ContradictionCheck
    auto_promote_eligible: bool = False


class MemoryReview(Contract):
    """A reviewer's word, which stays."""

    proposal_id: Id
    verdict: Literal["promoted", "declined"]
    reviewed_by: Id
    reviewed_at: str
    reason: Words = ""

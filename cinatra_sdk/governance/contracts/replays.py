"""ReplayPacket: what is needed to derive a decision again, without a live effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cinatra_sdk.governance.contracts.contract import Contract
from cinatra_sdk.governance.contracts.identifiers import Id, PackRef, Sha256, TraceId
from cinatra_sdk.governance.contracts.records import RecordStatus, Time


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

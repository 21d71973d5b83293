"""The result of a governed call -> its envelope.

a call that was made         ok (reads) or completed (changes something), with its mutations
an error of the call         failed
a refusal before the call    rejected, blocked or paused, by its code
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from cinatra_sdk.governance.contracts.invocation import (
    RESULT_VERSION,
    Citation,
    ToolCallEnvelope,
    ToolResultEnvelope,
)
from cinatra_sdk.governance.contracts.record_format import hash_of, thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.gateway import Examined, GateApproval
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """The result of a tool with facts about it; a tool may return it in place of its plain result."""

    output: Any
    mutations: Sequence[str] = ()
    """What it changed, such as `refund:txn_q9`."""
    artifacts: Sequence[Any] = field(default=(), repr=False)
    cost_cents: float = 0.0
    """Beyond what the adapter declares."""


def cite_call(call: ToolCallEnvelope) -> str:
    """The reference to a call as evidence."""
    return f"tool:{call.capability_id}:{call.tool_call_id}"


def make_result(
    examined: Examined,
    made: Mapping[str, Any],
    *,
    latency_ms: int | None,
    approvals: Sequence[GateApproval] = (),
    redacted: Any = None,
    retries: int = 0,
) -> ToolResultEnvelope:
    """The result of a call that was made.

    made: `{"output", "mutations", "artifacts", "cost_cents"}`.  redacted: the output as it may be kept.
    """
    call, declared = examined.envelope, examined.declared
    assert call is not None
    assert declared is not None
    given = [str(one) for one in made.get("mutations") or ()]
    changed = given or ([f"{call.capability_id}:{call.tool_call_id}"] if declared.writes else [])
    return ToolResultEnvelope(
        envelope_version=RESULT_VERSION,
        tool_call_id=call.tool_call_id,
        run_id=call.run_id,
        trace_id=call.trace_id,
        session_id=call.session_id,
        capability_id=call.capability_id,
        status="completed" if declared.writes else "ok",
        output=redacted,
        error=None,
        artifacts=tuple(made.get("artifacts") or ()),
        citations=(Citation(evidence_ref=cite_call(call)),),
        mutations=tuple(changed) if declared.writes else (),
        risk_tags=(call.approval_mode_effective,),
        policy_decision_id=call.policy_decision_id,
        latency_ms=latency_ms,
        metadata={
            **_describe_made(examined, made, redacted, approvals),
            "retries": retries,
        },
    )


def _describe_made(
    examined: Examined, made: Mapping[str, Any], redacted: Any, approvals: Sequence[GateApproval]
) -> dict[str, Any]:
    declared, call = examined.declared, examined.envelope
    assert declared is not None
    assert call is not None
    told: dict[str, Any] = {
        "tool_transcript_id": f"tx_{call.tool_call_id}",
        "redaction_applied": redacted != made.get("output"),
        "cost_cents": round(declared.about.cost_cents + float(made.get("cost_cents") or 0), 6),
        "output_sha256": hash_of(thaw(redacted)),
    }
    if made.get("simulated"):
        told["simulated"] = True
    passed = [one for one in approvals if one.snapshot_hash == examined.snapshot_hash]
    if passed:
        told["approver"] = passed[-1].approver
        told["approval_evidence_snapshot_hash"] = examined.snapshot_hash
    return told


def make_refused_result(
    call: ToolCallEnvelope, refusal: GovernanceRefused, *, latency_ms: int | None = None
) -> ToolResultEnvelope:
    """The result of a call that was not made, or that took too long."""
    error = {"code": refusal.code, "message": refusal.message}
    return _make_unmade(call, refusal.result, error, latency_ms)


def make_failed_result(
    call: ToolCallEnvelope, error: Mapping[str, Any], *, latency_ms: int | None
) -> ToolResultEnvelope:
    """error: `{"code", "message", "transient"}`, without secrets."""
    return _make_unmade(call, "failed", error, latency_ms)


def _make_unmade(
    call: ToolCallEnvelope, status: Any, error: Mapping[str, Any], latency_ms: int | None
) -> ToolResultEnvelope:
    return ToolResultEnvelope(
        envelope_version=RESULT_VERSION,
        tool_call_id=call.tool_call_id,
        run_id=call.run_id,
        trace_id=call.trace_id,
        session_id=call.session_id,
        capability_id=call.capability_id,
        status=status,
        output=None,
        error=dict(error),
        risk_tags=(call.approval_mode_effective,),
        policy_decision_id=call.policy_decision_id,
        latency_ms=latency_ms,
    )

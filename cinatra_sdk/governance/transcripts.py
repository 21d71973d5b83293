"""Calls of a run as records tell them: put together from the ledger of effects.

    read_transcripts(rows)  ->  [Transcript(call=…, result=…, rule_ids=("R_HIGH_VALUE…",)), …]

A row of the ledger has what the rules said before the call (`governed`) and what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.contracts.calls import (
    RESULT_VERSION,
    Citation,
    ToolCallEnvelope,
    ToolResultEnvelope,
)
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.gateway import Examined
from cinatra_sdk.governance.recording import Transcript
from cinatra_sdk.governance.refusals import REASONS, ToolResultStatus
from cinatra_sdk.governance.results import cite_call

CALL = "call"
DECISION = "decision"
SNAPSHOT = "snapshot_hash"
FACTS = "facts"


def describe_examined(examined: Examined) -> dict[str, Any]:
    """What the ledger keeps of the rules' word, beside the effect; of a call that has an envelope."""
    call, decision, facts = examined.envelope, examined.decision, examined.facts
    assert call is not None
    assert decision is not None
    return {
        CALL: call.to_json(),
        DECISION: decision.to_json(),
        SNAPSHOT: examined.snapshot_hash,
        # What a replay needs beside the run and the call, to come to the same decision.
        FACTS: {"context": facts.get("context") or {}, "evidence": list(facts.get("evidence", ()))},
    }


def read_transcripts(rows: Iterable[Mapping[str, Any]]) -> list[Transcript]:
    """rows: of the ledger, with `governed status result error usage begun_at ended_at`."""
    return [_read_row(row) for row in rows if row["governed"]]


def _read_row(row: Mapping[str, Any]) -> Transcript:
    said = row["governed"]
    call = ToolCallEnvelope.read(said[CALL])
    decision = said[DECISION]
    rules = (*decision["matched_rule_ids"], *decision.get("undecided_rule_ids", ()))
    return Transcript(
        call=call,
        result=_make_result(call, row),
        rule_ids=tuple(rules),
        snapshot_hash=said[SNAPSHOT],
        facts=said.get(FACTS) or {},
    )


def _make_result(call: ToolCallEnvelope, row: Mapping[str, Any]) -> ToolResultEnvelope | None:
    status, error = row["status"], row["error"] or {}
    about: dict[str, Any] = {
        "envelope_version": RESULT_VERSION,
        "tool_call_id": call.tool_call_id,
        "run_id": call.run_id,
        "trace_id": call.trace_id,
        "session_id": call.session_id,
        "capability_id": call.capability_id,
        "risk_tags": [call.approval_mode_effective],
        "policy_decision_id": call.policy_decision_id,
        "latency_ms": _measure(row["begun_at"], row["ended_at"]),
    }
    if status == "begun":
        return None
    if status == "done":
        return ToolResultEnvelope.read({**about, **_describe_done(call, row)})
    return ToolResultEnvelope.read(
        {**about, "status": _choose_status(status, error), "error": error}
    )


def _describe_done(call: ToolCallEnvelope, row: Mapping[str, Any]) -> dict[str, Any]:
    writes = call.approval_mode_effective != "read_only"
    usage = row["usage"] or {}
    value = (row["result"] or {}).get("value")
    return {
        "status": "completed" if writes else "ok",
        "citations": [Citation(evidence_ref=cite_call(call)).to_json()],
        "mutations": [f"{call.capability_id}:{call.tool_call_id}"] if writes else [],
        "metadata": {
            "tool_transcript_id": f"tx_{call.tool_call_id}",
            "output_sha256": hash_of(thaw(value)),
            "tokens": int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0),
        },
    }


def _choose_status(status: str, error: Mapping[str, Any]) -> ToolResultStatus:
    code = str(error.get("code", ""))
    if code == "paused":
        return "paused"
    if code in REASONS:
        return REASONS[code].result
    return "error" if status == "unknown" else "failed"


def _measure(begun: datetime | None, ended: datetime | None) -> int | None:
    if begun is None or ended is None:
        return None
    return max(0, round((ended - begun).total_seconds() * 1000))

"""Calls of a run as records tell them: put together from the ledger of effects.

    list_ledger_calls(rows)  ->  [{"call": {…}, "result": {…}, "rule_ids": ["R_HIGH_VALUE…"], …}, …]

A row of the ledger has what the rules said before the call (`governed`) and what came of it.  The
calls are plain JSON, as a transcript has them; `story.read_story` reads and checks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from cinatra_sdk.effects.effect import read_usage
from cinatra_sdk.governance.canonical import hash_of, spell_integers
from cinatra_sdk.governance.contracts.calls import RESULT_VERSION
from cinatra_sdk.governance.gateway import Examined
from cinatra_sdk.governance.refusals import REASONS, ToolResultStatus

CALL = "call"
DECISION = "decision"
SNAPSHOT = "snapshot_hash"
FACTS = "facts"
SIMULATED = "simulated"
_SHARED: Final = (
    "tool_call_id", "run_id", "trace_id", "session_id", "capability_id", "policy_decision_id",
)  # fmt: skip
"""Members that a result has from its call."""


def describe_examined(examined: Examined, *, simulated: bool = False) -> dict[str, Any]:
    """What the ledger keeps of the rules' word, beside the effect; of a call that has an envelope.

    simulated: whether nobody is called.
    """
    call, decision, facts = examined.envelope, examined.decision, examined.facts
    assert call is not None
    assert decision is not None
    return {
        CALL: call.to_json(),
        DECISION: decision.to_json(),
        SNAPSHOT: examined.snapshot_hash,
        # What a replay needs beside the run and the call, to come to the same decision.
        FACTS: {
            "context": facts.get("context") or {},
            "evidence": list(facts.get("evidence", ())),
            "call": examined.kept_about,
            # The host's word may be another at each activation.
            **{name: facts[name] for name in ("user", "agent", "safety_mode") if name in facts},
        },
        **({SIMULATED: True} if simulated else {}),
    }


def list_ledger_calls(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """rows: of the ledger, with `governed status result error usage begun_at ended_at`."""
    return [_describe_row(row) for row in rows if row["governed"]]


def _describe_row(row: Mapping[str, Any]) -> dict[str, Any]:
    said = row["governed"]
    decision = said[DECISION]
    return {
        "call": said[CALL],
        "result": _describe_result(said[CALL], row),
        "rule_ids": [*decision["matched_rule_ids"], *decision.get("undecided_rule_ids", ())],
        "snapshot_hash": said[SNAPSHOT],
        "facts": said.get(FACTS) or {},
    }


def _describe_result(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A `ToolResultEnvelope` as JSON; None while nobody knows what came of the call."""
    status, error = row["status"], row["error"] or {}
    if status == "begun":
        return None
    about: dict[str, Any] = {
        "envelope_version": RESULT_VERSION,
        **{name: call.get(name) for name in _SHARED},
        "risk_tags": [call["approval_mode_effective"]],
        "latency_ms": _measure(row["begun_at"], row["ended_at"]),
    }
    if status == "done":
        return {**about, **_describe_done(call, row)}
    return {**about, "status": _choose_status(status, error), "error": error}


def _describe_done(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    writes = call["approval_mode_effective"] != "read_only"
    usage = read_usage(row["usage"])
    name = f"{call['capability_id']}:{call['tool_call_id']}"
    return {
        "status": "completed" if writes else "ok",
        "citations": [{"evidence_ref": f"tool:{name}"}],
        "mutations": [name] if writes else [],
        "metadata": {
            "tool_transcript_id": f"tx_{call['tool_call_id']}",
            "output_sha256": hash_of(spell_integers((row["result"] or {}).get("value"))),
            "tokens": usage.input_tokens + usage.output_tokens,
            **({SIMULATED: True} if row["governed"].get(SIMULATED) else {}),
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

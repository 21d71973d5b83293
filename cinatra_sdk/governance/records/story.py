"""The story of a run: a transcript as plain JSON, from which a decision record is made, and made again.

    transcript = {"admitted": {…}, "compiled": {…}, "decision": {…}, "calls": […], "approvals": […],
                  "plan": {…}, "verify": {…}, "score": {…}, "status": "DECIDED", "used": {…}, …}
    read_story(transcript)  ->  RunStory(…)

The transcript is enough to derive the record again: no registry, no host.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from cinatra_sdk.governance.contracts.context_pack import CompiledContext
from cinatra_sdk.governance.contracts.decision_record import RecordApproval, RecordStatus
from cinatra_sdk.governance.contracts.invocation import (
    RESULT_VERSION,
    InvokeAgent,
    RunContext,
    ToolCallEnvelope,
    ToolResultEnvelope,
)
from cinatra_sdk.governance.contracts.plans import DecisionSpec, Plan
from cinatra_sdk.governance.contracts.record_format import hash_of, spell_integers, thaw
from cinatra_sdk.governance.contracts.refusals import REASONS, ToolResultStatus
from cinatra_sdk.governance.gateway.gateway import Examined
from cinatra_sdk.governance.packs.plan_outputs import describe_chosen
from cinatra_sdk.governance.packs.rulebook import Rulebook
from cinatra_sdk.governance.records.record_maker import JudgedCall, RunStory
from cinatra_sdk.governance.run.budgets import Used
from cinatra_sdk.outside.effects.effect import read_usage

OPEN: Final[RecordStatus] = "IN_FLIGHT"
NO_OUTCOME: Final = "completed"
"""The outcome of a run whose plan names none."""
BOUND: Final = 2
"""Since this version of transcripts outcomes are bound to calls, and outputs come from results."""
NAMED: Final = 3
"""Since this version outputs are those that the catalog names, from where it says."""


def begin_transcript(
    kind: str, admitted: Mapping[str, Any], compiled: CompiledContext, book: Rulebook
) -> dict[str, Any]:
    """The transcript of a run in which nothing has happened yet.

    kind: `loop` or `flow`.  admitted: `{"envelope", "run", "book", "attachments", "at"}`.
    """
    envelope = InvokeAgent.read(admitted["envelope"])
    decision = book.decision_for(envelope.input.intent)
    snapshot = thaw(book.primary.intelligence_refs).get("knowledge_snapshot", "")
    used = Used(tokens=compiled.budget_report.tokens_used_at_compile)
    return {
        "version": NAMED,
        "kind": kind,
        "admitted": dict(admitted),
        "compiled": compiled.to_json(),
        "decision": None if decision is None else decision.to_json(),
        "snapshot_version": str(snapshot),
        "calls": [],
        "approvals": [],
        "plan": None,
        "verify": None,
        "score": None,
        "status": OPEN,
        "outcome": None,
        "outputs": {},
        "reason": "",
        "used": asdict(used),
    }


def read_story(transcript: Mapping[str, Any]) -> RunStory:
    """Raises: `GovernanceRefused` where a part of the transcript does not fit its contract."""
    admitted = transcript["admitted"]
    envelope = InvokeAgent.read(admitted["envelope"])
    compiled = CompiledContext.read(transcript["compiled"])
    ledger = compiled.context_ledger
    decision = transcript["decision"]
    plan = None if transcript["plan"] is None else Plan.read(transcript["plan"])
    verify, score = transcript["verify"] or {}, transcript["score"] or {}
    decided = transcript["status"] == "DECIDED"
    return RunStory(
        run=RunContext.read(admitted["run"]),
        request_id=envelope.request_id,
        pack_ref=ledger.pack_ref,
        pack_refs=envelope.context_pack_refs,
        snapshot_version=transcript["snapshot_version"],
        compiled_context_hash=ledger.compiled_context_hash,
        controls=compiled.runtime_controls,
        decision=None if decision is None else DecisionSpec.read(decision),
        binds=transcript.get("version", 1) >= BOUND,
        status=transcript["status"],
        outcome=transcript["outcome"],
        outputs=transcript["outputs"],
        statements=transcript.get("statements") or {} if decided else {},
        reason=transcript["reason"],
        transcripts=[_read_call(one) for one in transcript["calls"]],
        approvals=tuple(RecordApproval.read(one) for one in transcript["approvals"]),
        subject_ids=plan.subject_ids if plan else (),
        confidence=plan.confidence if plan and decided else None,
        strategy=plan.strategy if plan else "",
        alternatives=plan.alternatives_considered if plan else (),
        reasons=(
            *verify.get("reasons", ()),
            *score.get("reasons", ()),
            *_describe_simulated(transcript["calls"]),
            *_describe_unbound(transcript, decision),
        ),
        scorecard=score.get("scorecard", {}),
        used=Used(**transcript["used"]),
    )


def _describe_simulated(calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a record says where a call that it rests on was not made."""
    names = [
        one["call"]["tool_call_id"]
        for one in calls
        if one["result"] and one["result"].get("metadata", {}).get("simulated")
    ]
    return [f"simulated, so nothing happened outside: {', '.join(names)}"] if names else []


def _describe_unbound(
    transcript: Mapping[str, Any], decision: Mapping[str, Any] | None
) -> list[str]:
    """What a record says where nothing but the planner's word leads to the outcome."""
    outcome, kind = transcript["outcome"], transcript["kind"]
    version = transcript.get("version", 1)
    if transcript["status"] != "DECIDED" or kind != "loop" or version < BOUND:
        return []
    told = []
    claimed = ((decision or {}).get("outcomes") or {}).get(outcome)
    # One that claims nothing binds nothing.
    is_bound = (
        any(claimed.values()) if claimed is not None and version >= NAMED else claimed is not None
    )
    if outcome != NO_OUTCOME and not is_bound:
        told.append(
            f"the outcome '{outcome}' is the planner's word: no catalog says what it claims"
        )
    if version >= NAMED:
        told += describe_chosen((transcript["plan"] or {}).get("outputs") or {}, decision)
    return told


def _read_call(one: Mapping[str, Any]) -> JudgedCall:
    result = one["result"]
    return JudgedCall(
        call=ToolCallEnvelope.read_kept(one["call"]),
        result=None if result is None else ToolResultEnvelope.read_kept(result),
        rule_ids=tuple(one["rule_ids"]),
        snapshot_hash=one["snapshot_hash"],
        facts=one.get("facts") or {},
    )


def join_calls(
    known: Iterable[Mapping[str, Any]], ledger: Iterable[Mapping[str, Any]], *, trusts_ledger: bool
) -> list[dict[str, Any]]:
    """The calls that a transcript has, and those that only the ledger knows.

    trusts_ledger: whether the ledger wins for calls that both have, as of a flow, whose transcript is
    made of nothing else.
    """
    found = {one["call"]["tool_call_id"]: dict(one) for one in known}
    for one in ledger:
        name = one["call"]["tool_call_id"]
        if trusts_ledger or name not in found or found[name]["result"] is None:
            found[name] = dict(one)
        elif _waits(found[name]):
            found[name] |= one  # a person said yes, and it was made
    return list(found.values())


def block_waiting(calls: Iterable[Mapping[str, Any]], reason: str) -> list[dict[str, Any]]:
    """The calls of a run that a person rejected: one that waited for this person is blocked."""
    code = "GATE_REJECTED"
    error = {"code": code, "message": reason}
    return [
        {**one, "result": {**one["result"], "status": REASONS[code].result, "error": error}}
        if _waits(one)
        else dict(one)
        for one in calls
    ]


def _waits(one: Mapping[str, Any]) -> bool:
    return (one["result"] or {}).get("status") == "paused"


# ----------------------------------------------------------------------------
# The calls of a run for its record, put together from the ledger of effects.
#
#     list_ledger_calls(rows)  ->  [{"call": {…}, "result": {…}, "rule_ids": ["R_HIGH_VALUE…"], …}, …]
#
# A row of the ledger has the verdict of the rules before the call (`governed`) and the result of the call.
# The calls are plain JSON, as in a transcript; `read_story` reads and checks them.


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

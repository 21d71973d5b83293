"""The end of the loop: what is worth remembering, and the record of what was decided."""

from __future__ import annotations

from typing import Any

from cinatra_sdk.blocks.host_node import end_of, ending
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.contracts.calls import ToolCallEnvelope, ToolResultEnvelope
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.memory import MemoryProposal
from cinatra_sdk.governance.contracts.packs import ContextPack
from cinatra_sdk.governance.contracts.records import DecisionRecord, RecordApproval
from cinatra_sdk.governance.loop.case import LoopCase
from cinatra_sdk.governance.loop.deciding import read_plan
from cinatra_sdk.governance.loop.state import go_to
from cinatra_sdk.governance.recording import RecordLink, RunStory, Transcript, make_record
from cinatra_sdk.governance.refusals import REASONS
from cinatra_sdk.governed.state import seal

DECISION_RECORD = "decision_record"
DECISION = "decision"


def consolidate(case: LoopCase) -> dict[str, Any]:
    """Proposals to remember the decision, for a reviewer; nothing is remembered by itself."""
    return go_to(case.loop, "record", proposals=[one.to_json() for one in _list_proposals(case)])


def _list_proposals(case: LoopCase) -> list[MemoryProposal]:
    packs = [one for one in case.book.packs if isinstance(one, ContextPack)]
    if not any("decision_outcome" in one.memory_layer.write_classes for one in packs):
        return []
    plan = case.plan
    decision = case.decision
    predicate = decision.decision_key if decision else case.envelope.input.intent
    value = {"outcome": case.loop["outcome"], "outputs": case.loop["outputs"]}
    return [
        MemoryProposal.read(
            {
                "proposal_id": "mp_" + hash_of([case.run.run_id, subject, predicate])[7:23],
                "candidate": {
                    "entity_ceid": subject,
                    "predicate": predicate,
                    "value": value,
                    "evidence_refs": list(case.list_evidence()),
                    "confidence": plan.confidence if plan.confidence is not None else 1.0,
                },
                "class": "decision_outcome",
                "tier_target": "episodic",
                "consent_check": "not_required",
                "contradiction_check": {"verdict": "unchecked"},
                "auto_promote_eligible": False,
            }
        )
        for subject in plan.subject_ids
    ]


def write_record(case: LoopCase) -> dict[str, Any]:
    """The record, and the end that it tells of.

    ESCALATED leads to `escalated`, which fails closed: whoever resumes the run goes on from there.
    """
    record = make_loop_record(case)
    outputs = {DECISION_RECORD: record.to_json(), "memory_proposals": case.loop["proposals"]}
    if record.outcome is not None:
        outputs[DECISION] = {
            "decision_id": record.decision_key,
            "outcome": record.outcome,
            "evidence_refs": list(record.evidence_refs),
        }
    match case.loop["status"]:
        case "DECIDED":
            kept = go_to(case.loop, "end")
            return {**kept, "outputs": seal(outputs), **ending("completed"), **end_of(case.state)}
        case "REJECTED":
            at = record.timestamp
            kept = go_to(case.loop, "end")
            return {**kept, "outputs": seal(outputs), **ending("rejected", at=at)}
        case _:
            return go_to(case.loop, "escalated", escalation=record.to_json())


def make_loop_record(case: LoopCase) -> DecisionRecord:
    return make_record(
        tell_story(case),
        RecordLink(),
        at=case.governance.ports.clock(),
        signer=case.governance.ports.signer,
    )


def tell_story(case: LoopCase) -> RunStory:
    """What the loop did, for its record."""
    loop, plan, compiled = case.loop, read_plan(case.loop), case.compiled
    ledger = compiled.context_ledger
    verify, score = loop["verify"] or {}, loop["score"] or {}
    snapshot = thaw(case.book.primary.intelligence_refs).get("knowledge_snapshot", "")
    return RunStory(
        run=case.run,
        request_id=case.envelope.request_id,
        pack_ref=ledger.pack_ref,
        pack_refs=case.envelope.context_pack_refs,
        snapshot_version=str(snapshot),
        compiled_context_hash=ledger.compiled_context_hash,
        controls=compiled.runtime_controls,
        decision=case.decision,
        status=loop["status"],
        outcome=loop["outcome"],
        outputs=loop["outputs"],
        reason=loop["reason"],
        transcripts=[
            Transcript(
                call=ToolCallEnvelope.read(one["call"]),
                result=ToolResultEnvelope.read(one["result"]),
                rule_ids=(
                    *one["decision"]["matched_rule_ids"],
                    *one["decision"]["undecided_rule_ids"],
                ),
            )
            for one in loop["calls"]
        ],
        approvals=tuple(_read_approval(one) for one in loop["approvals"]),
        subject_ids=plan.subject_ids if plan else (),
        confidence=plan.confidence if plan and loop["status"] == "DECIDED" else None,
        strategy=plan.strategy if plan else "",
        alternatives=plan.alternatives_considered if plan else (),
        reasons=(*verify.get("reasons", ()), *score.get("reasons", ())),
        scorecard=score.get("scorecard", {}),
        used=case.usage.read(),
    )


def _read_approval(one: dict[str, Any]) -> RecordApproval:
    body = {
        "gate_id": one["gate_id"],
        "approver": one["approver"],
        "approval_mode_effective": one["mode"],
        "evidence_snapshot_hash": one["snapshot_hash"],
        "decided_at": one["decided_at"],
    }
    if one["decision"] != "approved":
        body["decision"] = one["decision"]
    return RecordApproval.read(body)


def stay_escalated(case: LoopCase) -> dict[str, Any]:
    """Fail closed, unless the host has meanwhile given what was missing.

    Where the budget, or the time, was used up, whoever resumes the run with more of it goes on where
    the run stopped.  Everything else has to be looked at by a person, who starts a new run.
    Raises: `NodeFailed` with the code of the reason.
    """
    loop = case.loop
    code, _, why = str(loop["reason"]).partition(": ")
    if code == "BUDGET_EXCEEDED" and _has_budget(case):
        back = "step" if loop["plan"] and (loop["verify"] or {}).get("verdict") == "ok" else "plan"
        return go_to(loop, back, status="", reason="", score=None)
    raise NodeFailed(
        f"the run was escalated: {why or code}",
        node="escalated",
        code=code if code in REASONS else "ESCALATED",
        hint="nothing further is done; see its decision record",
    )


def _has_budget(case: LoopCase) -> bool:
    used, budget = case.usage.read(), case.run.run_budget
    return (
        used.tool_calls < budget.max_tool_calls
        and used.tokens <= budget.total_tokens
        and used.cost_cents < budget.max_cost_cents
        and used.wall_clock_ms <= budget.wall_clock_ms
        and used.replans <= budget.max_replan_attempts
    )

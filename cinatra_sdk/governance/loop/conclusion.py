"""The end of the loop: proposals to remember, and the decision record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cinatra_sdk.blocks.host_node import end_of, ending
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.governance.contracts.context_pack import CompiledContext, ContextPack
from cinatra_sdk.governance.contracts.decision_record import DecisionRecord, MemoryProposal
from cinatra_sdk.governance.contracts.invocation import RunBudget
from cinatra_sdk.governance.contracts.record_format import hash_of
from cinatra_sdk.governance.contracts.refusals import REASONS
from cinatra_sdk.governance.loop.loop_state import GATE, WAITING, LoopCase, go_to
from cinatra_sdk.governance.packs.rulebook import Rulebook
from cinatra_sdk.governance.records.record_maker import RecordLink, make_record
from cinatra_sdk.governance.records.story import BOUND, OPEN, begin_transcript, read_story
from cinatra_sdk.governance.run.budgets import narrow_budgets
from cinatra_sdk.langgraph_threads.state_channels import seal

DECISION_RECORD = "decision_record"
DECISION = "decision"


def propose_memory(case: LoopCase) -> dict[str, Any]:
    """Proposals to remember the decision, for a reviewer; nothing is remembered by itself."""
    return go_to(case.loop, "record", proposals=[one.to_json() for one in _list_proposals(case)])


def _list_proposals(case: LoopCase) -> list[MemoryProposal]:
    packs = [one for one in case.book.packs if isinstance(one, ContextPack)]
    if not any("decision_outcome" in one.memory_layer.write_classes for one in packs):
        return []
    plan = case.plan
    decision = case.decision
    predicate = decision.decision_key if decision else case.envelope.input.intent
    value = {"outcome": case.loop["outcome"], "outputs": case.book.redact(case.loop["outputs"])}
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
        for subject in dict.fromkeys(plan.subject_ids)
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
            budget = case.run.run_budget.to_json()
            return go_to(case.loop, "escalated", escalation=record.to_json(), stopped_at=budget)


def make_loop_record(case: LoopCase) -> DecisionRecord:
    """The record of a run without a store; a store writes its own, with its place in the chain."""
    transcript = tell_transcript(case.state, asdict(case.usage.read()), case.book)
    return make_record(
        read_story(transcript),
        RecordLink(),
        at=case.governance.ports.read_time(),
        signer=case.governance.ports.signer,
        transcript=transcript,
    )


def tell_transcript(
    state: Mapping[str, Any], used: Mapping[str, Any], book: Rulebook
) -> dict[str, Any]:
    """What the loop did so far, for its record."""
    loop = state["loop"]
    begun = begin_transcript(
        "loop", state["admitted"], CompiledContext.read(state["compiled"]), book
    )
    return {
        **begun,
        "version": loop.get("version", BOUND),  # by whose rules the plan was judged
        "calls": [
            {
                "call": one["call"],
                "result": one["result"],
                "rule_ids": [
                    *one["decision"]["matched_rule_ids"],
                    *one["decision"]["undecided_rule_ids"],
                ],
                "snapshot_hash": one["snapshot_hash"],
                "facts": one["facts"],
                "step": one["step"],
            }
            for one in [*loop["calls"], *_list_waiting(loop)]
        ],
        "approvals": [_describe_approval(one) for one in loop["approvals"]],
        **{name: loop[name] for name in ("verify", "score", "outcome", "reason", "retries")},
        "plan": _redact_plan(loop["plan"], book),
        **_tell_statements(loop, book),
        "outputs": book.redact(loop["outputs"]),
        "status": loop["status"] or OPEN,
        "used": dict(used),
    }


def _list_waiting(loop: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The call that a person is asked about now; of an earlier release's question nothing is kept."""
    asked = loop["pending"] if loop["next"] == GATE else None
    return [asked[WAITING]] if asked and WAITING in asked else []


def _tell_statements(loop: Mapping[str, Any], book: Rulebook) -> dict[str, Any]:
    """The planner's own words of a plan that led to a decision; nothing where there are none."""
    said = (loop["plan"] or {}).get("statements") if loop["status"] == "DECIDED" else None
    return {"statements": book.redact(said)} if said else {}


def _redact_plan(plan: Mapping[str, Any] | None, book: Rulebook) -> dict[str, Any] | None:
    """The plan without arguments and outputs that no record shows."""
    if plan is None:
        return None
    steps = [
        {**one, "params": book.redact(one["params"])} if "params" in one else dict(one)
        for one in plan["steps"]
    ]
    said = {name: book.redact(plan[name]) for name in ("outputs", "statements") if name in plan}
    return {**plan, "steps": steps, **said}


def _describe_approval(one: Mapping[str, Any]) -> dict[str, Any]:
    body = {
        "gate_id": one["gate_id"],
        "approver": one["approver"],
        "approval_mode_effective": one["mode"],
        "evidence_snapshot_hash": one["snapshot_hash"],
        "decided_at": one["decided_at"],
    }
    return body if one["decision"] == "approved" else {**body, "decision": one["decision"]}


def stay_escalated(case: LoopCase) -> dict[str, Any]:
    """Fail closed, unless the host has meanwhile given what was missing.

    Where the budget was used up, and the host gives more of it now, the run goes on where it stopped.
    Everything else has to be looked at by a person, who starts a new run.
    Raises: `NodeFailed` with the code of the reason.
    """
    loop = case.loop
    code, _, why = str(loop["reason"]).partition(": ")
    lacks = code == "BUDGET_EXCEEDED" or loop.get("lacks_budget")
    if lacks and _has_more(case):
        back = "step" if loop["plan"] and (loop["verify"] or {}).get("verdict") == "ok" else "plan"
        again = {"status": "", "reason": "", "score": None, "lacks_budget": False}
        return go_to(loop, back, **again)
    raise NodeFailed(
        f"the run was escalated: {why or code}",
        node="escalated",
        code=code if code in REASONS else "ESCALATED",
        hint="nothing further is done; see its decision record",
    )


def _has_more(case: LoopCase) -> bool:
    """Whether the host gives more now than when the run stopped."""
    before = RunBudget.read(case.loop["stopped_at"])
    now = case.run.run_budget
    return now != before and narrow_budgets([now, before]) == narrow_budgets([before])

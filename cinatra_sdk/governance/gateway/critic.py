"""The critic: may this plan be carried out, and do its results suffice?

    verify(plan, case)             ->  Verification(verdict="ok" | "replan" | "reject", …)
    score(plan, results, case)     ->  Score(verdict="accept" | "retry" | "replan" | "escalate", …)

Both are pure functions, so that an auditor derives the same verdicts from the same record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.governance.contracts.invocation import RunBudget, ToolResultEnvelope
from cinatra_sdk.governance.contracts.plans import (
    CarriedCall,
    DecisionSpec,
    FindingKind,
    Plan,
    PlanStep,
    Score,
    Verification,
    find_outcome_problem,
)
from cinatra_sdk.governance.contracts.record_format import at_most, hash_of, thaw
from cinatra_sdk.governance.gateway.call_proposal import find_argument_problem
from cinatra_sdk.governance.gateway.facts import describe_declared, make_call_facts
from cinatra_sdk.governance.packs.pack_policy import decide, judge_condition
from cinatra_sdk.governance.packs.plan_outputs import (
    Unresolved,
    fill_references,
    find_output_problem,
    list_steps,
)
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability, Rulebook
from cinatra_sdk.governance.run.budgets import Used
from cinatra_sdk.governance.run.evidence import list_lacking
from cinatra_sdk.light_imports.records import dataclass

MAX_RETRIES = 2
"""Times that a step which failed is tried again."""
TO_A_PERSON = ("BUDGET_EXCEEDED", "TIMEOUT", "MODE_EXCEEDS_SAFETY", "DELEGATION_REQUIRED")
"""Reasons that no other plan can mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a critic has to know."""

    book: Rulebook
    decision: DecisionSpec | None
    run_facts: Mapping[str, Any] = field(repr=False)
    budget: RunBudget
    used: Used
    done: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What steps of earlier plans gave, by step."""
    evidence: tuple[str, ...] = ()
    """References that the run has already."""
    carried: tuple[CarriedCall, ...] = ()
    """Calls of the run so far, also those of earlier plans."""
    binds_outputs: bool = True
    """Whether outputs are those of the catalog; plans of earlier releases were judged without."""


class _Finding(Exception):
    def __init__(
        self, kind: FindingKind, reason: str, step: str | None = None, *, final: bool = False
    ) -> None:
        super().__init__(reason)
        self.kind: FindingKind = kind
        self.step = step
        self.final = final


def verify(plan: Plan, case: Case) -> Verification:
    """Whether the plan may be carried out; the first rule that it breaks."""
    try:
        _verify_decision(plan, case)
        _verify_outputs(plan, case)
        _verify_order(plan, case)
        for step in plan.steps:
            _verify_step(step, case)
        _verify_budget(plan, case)
        _verify_evidence(plan, case)
    except _Finding as finding:
        return Verification(
            verdict="reject" if finding.final else "replan",
            kind=finding.kind,
            reasons=(str(finding),),
            offending_step=finding.step,
        )
    return Verification(verdict="ok")


def _verify_decision(plan: Plan, case: Case) -> None:
    decision = case.decision
    if plan.intent != case.run_facts["intent"]:
        raise _Finding("violates_decision_spec", "the plan is for another intent")
    if decision is None:
        if plan.decision_checkpoints:
            raise _Finding("violates_decision_spec", "no catalog has a decision for the intent")
        return
    if judge_condition(decision.eligibility_rules, case.run_facts) != "met":
        raise _Finding(
            "violates_decision_spec",
            f"the request is not eligible for '{decision.decision_key}'",
            final=True,
        )
    allowed = decision.allowed_outcomes
    if allowed and plan.outcome not in allowed:
        raise _Finding(
            "violates_decision_spec",
            f"the outcome is none of {', '.join(allowed)}",
        )
    _verify_outcome(plan, decision, case)
    for checkpoint in plan.decision_checkpoints:
        if checkpoint.decision_id != decision.decision_key:
            raise _Finding(
                "violates_decision_spec",
                f"a checkpoint names a decision other than '{decision.decision_key}'",
                checkpoint.after_step,
            )
        if checkpoint.after_step not in {step.id for step in plan.steps}:
            raise _Finding(
                "violates_decision_spec",
                f"a checkpoint stands after '{checkpoint.after_step}', which is no step",
            )


def _verify_outcome(plan: Plan, decision: DecisionSpec, case: Case) -> None:
    """That the steps are those which the outcome claims, before any of them is carried out."""
    coming = [
        CarriedCall(step.tool, "ok", changes=_is_write(step.tool, case.book)) for step in plan.steps
    ]
    problem = find_outcome_problem(decision, plan.outcome, [*coming, *case.carried])
    if problem:
        raise _Finding("violates_decision_spec", problem)


def _verify_outputs(plan: Plan, case: Case) -> None:
    """That what a decision gives comes from results: a planner cannot make up a transaction."""
    problem = find_output_problem(plan, case.decision, binds=case.binds_outputs)
    if problem:
        raise _Finding("violates_decision_spec", problem)


def _verify_order(plan: Plan, case: Case) -> None:
    """Each step once, after what it needs, and no call twice."""
    seen: set[str] = set()
    calls: set[str] = set()
    for step in plan.steps:
        if step.id in seen:
            raise _Finding("loop_guard", f"the step '{step.id}' stands twice", step.id)
        needed = {*step.depends_on, *list_steps(step.params)}
        for name in sorted(needed):
            if name not in seen and name not in case.done:
                raise _Finding(
                    "loop_guard",
                    f"step '{step.id}' needs '{name}', which does not come before it",
                    step.id,
                )
        same = hash_of([step.tool, thaw(step.params)])
        if same in calls:
            raise _Finding("loop_guard", f"step '{step.id}' repeats another call", step.id)
        calls.add(same)
        seen.add(step.id)
    for name in sorted(list_steps(plan.outputs)):
        if name not in seen and name not in case.done:
            raise _Finding(
                "violates_decision_spec", f"an output is taken from '{name}', which is no step"
            )


def _verify_step(step: PlanStep, case: Case) -> None:
    declared = case.book.capabilities.get(step.tool)
    if declared is None or not case.book.permits(declared):
        raise _Finding("capability_unsurfaced", f"'{step.tool}' is not offered", step.id)
    problem = _find_mode_problem(step, declared, case.decision)
    unknown = next((gate for gate in step.requires if gate not in case.book.gates), None)
    if not problem and unknown is not None:
        problem = f"step '{step.id}' waits at '{unknown}', which is no gate"
    if problem:
        raise _Finding("approval_mode_mismatch", problem, step.id)
    _verify_rules(step, case)


def _find_mode_problem(
    step: PlanStep, declared: DeclaredCapability, decision: DecisionSpec | None
) -> str:
    """Why the mode of a step does not fit; empty where it does."""
    if not at_most(step.approval_mode, declared.highest):
        return (
            f"step '{step.id}' asks for {step.approval_mode}; "
            f"'{step.tool}' is {declared.highest} at most"
        )
    if declared.writes and step.approval_mode == "read_only":
        return f"step '{step.id}' says read_only; '{step.tool}' is {declared.mode}"
    if decision is not None and not at_most(declared.mode, decision.approval_mode):
        return (
            f"'{step.tool}' is {declared.mode}, above the {decision.approval_mode} of "
            f"'{decision.decision_key}'"
        )
    return ""


def _verify_rules(step: PlanStep, case: Case) -> None:
    """What rules say of the call, as far as its arguments are known before it."""
    try:
        args = fill_references(step.params, case.done)
    except Unresolved:
        return  # the gateway reads the rules again, with the arguments
    declared = case.book.capabilities[step.tool]
    facts = make_call_facts(
        case.run_facts,
        capability=step.tool,
        args=args,
        approval_mode=step.approval_mode,
        evidence=[*step.evidence_refs, *case.evidence],
        about=describe_declared(declared),
    )
    decision, constraints = decide(case.book, declared, facts)
    problem = find_argument_problem(declared, args, constraints)
    if problem:
        raise _Finding("arguments_invalid", f"step '{step.id}': {problem}", step.id)
    if not decision.allowed:
        raise _Finding("violates_decision_spec", f"step '{step.id}': {decision.reason}", step.id)


def _verify_budget(plan: Plan, case: Case) -> None:
    cost = sum(case.book.capabilities[step.tool].about.cost_cents for step in plan.steps)
    calls = case.used.tool_calls + len(plan.steps)
    if calls > case.budget.max_tool_calls:
        raise _Finding(
            "budget_exceeded",
            f"{calls} tool calls; {case.budget.max_tool_calls} are allowed",
        )
    if case.used.cost_cents + cost > case.budget.max_cost_cents:
        raise _Finding("budget_exceeded", "the calls cost more than the run may")


def _verify_evidence(plan: Plan, case: Case) -> None:
    """That what the decision rests on is there, or comes from a step."""
    if case.decision is None:
        return
    coming = [*case.evidence]
    for step in plan.steps:
        coming += [*step.evidence_refs, f"tool:{step.tool}:{step.id}"]
    lacking = list_lacking(case.decision.required_evidence, coming)
    if lacking:
        raise _Finding(
            "missing_evidence",
            f"'{case.decision.decision_key}' rests on '{lacking[0]}', which no step brings",
        )


def score(
    plan: Plan,
    results: Mapping[str, ToolResultEnvelope],
    case: Case,
    *,
    outputs: Mapping[str, Any] | None,
    retries: Mapping[str, int],
    calls: Mapping[str, Any],
) -> Score:
    """Whether the results carry the decision.

    results: of each step that was carried out.  outputs: of the decision; None where a value of them
    is missing.  retries: of each step.  calls: `{step: {"capability", "args", "status"}}`, for evaluators.
    """
    for step in plan.steps:
        result = results.get(step.id)
        if result is None:
            return Score(
                verdict="replan",
                reasons=(f"step '{step.id}' was not carried out",),
                offending_step=step.id,
            )
        told = _score_result(step, result, retries)
        if told is not None:
            return told
    if outputs is None:
        return Score(verdict="replan", reasons=("an output is taken from what no step gave",))
    done = [
        CarriedCall.of(step.tool, result.to_json(), changes=_is_write(step.tool, case.book))
        for step in plan.steps
        if (result := results.get(step.id)) is not None
    ]
    carried = [*case.carried, *done]
    if not any(one.is_done for one in carried):
        return Score(
            verdict="replan", reasons=("no call was carried out: a plan alone decides nothing",)
        )
    decision = case.decision
    if decision is not None:
        problem = find_outcome_problem(decision, plan.outcome, carried)
        if problem:
            return Score(verdict="replan", reasons=(f"violates_decision_spec: {problem}",))
        lacking = list_lacking(decision.required_evidence, case.evidence)
        if lacking:
            return Score(
                verdict="replan", reasons=(f"missing_evidence: nothing of '{lacking[0]}' is there",)
            )
        schema = decision.outputs_schema
        problem = first_problem(thaw(schema), thaw(outputs)) if schema is not None else ""
        if problem:
            return Score(verdict="replan", reasons=(f"violates_decision_spec: outputs: {problem}",))
    return _evaluate(plan, case, outputs, calls)


def _score_result(
    step: PlanStep, result: ToolResultEnvelope, retries: Mapping[str, int]
) -> Score | None:
    """None where the step did what it should."""
    if result.status in ("ok", "completed"):
        return None
    error = thaw(result.error) or {}
    code = str(error.get("code", "no code"))
    reason = f"{code}: step '{step.id}' is {result.status}"
    failed = result.status == "failed"
    if failed and error.get("transient") and retries.get(step.id, 0) < MAX_RETRIES:
        return Score(verdict="retry", reasons=(reason,), offending_step=step.id)
    if code in TO_A_PERSON:
        return Score(verdict="escalate", reasons=(reason,), offending_step=step.id)
    return Score(verdict="replan", reasons=(reason,), offending_step=step.id)


def _evaluate(
    plan: Plan, case: Case, outputs: Mapping[str, Any], calls: Mapping[str, Any]
) -> Score:
    """What the evaluators of the packs say."""
    facts = {
        **case.run_facts,
        "outputs": thaw(outputs),
        "outcome": plan.outcome,
        "calls": thaw(calls),
        "evidence": list(case.evidence),
    }
    card: dict[str, float] = {}
    failed: list[str] = []
    for evaluator in case.book.evaluators:
        name = evaluator.evaluator_id
        met = judge_condition(evaluator.when, facts) == "met"
        card[name] = 1.0 if met else 0.0
        if not met and evaluator.hard_fail:
            failed.append(name)
    if failed:
        return Score(
            verdict="escalate",
            scorecard=card,
            reasons=tuple(f"evaluator '{name}' is not met" for name in failed),
        )
    return Score(verdict="accept", scorecard=card)


def list_carried(calls: Iterable[Mapping[str, Any]], book: Rulebook) -> tuple[CarriedCall, ...]:
    """calls: as `list_evidence` takes them."""
    return tuple(
        CarriedCall.of(
            one["call"]["capability_id"],
            one["result"],
            changes=_is_write(one["call"]["capability_id"], book),
        )
        for one in calls
    )


def _is_write(capability: str, book: Rulebook) -> bool:
    declared = book.capabilities.get(capability)
    return declared is not None and declared.writes


def list_evidence(calls: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """References that a run has: what its calls rested on, and their results.

    calls: as a transcript has them, with `call` and `result`.
    """
    good = [one for one in calls if (one["result"] or {}).get("status") in ("ok", "completed")]
    named = [ref for one in good for ref in one["call"]["evidence_refs"]]
    cited = [cited["evidence_ref"] for one in good for cited in one["result"]["citations"]]
    return tuple(dict.fromkeys([*named, *cited]))


def describe_calls(calls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The calls of steps as evaluators read them: `{step: {"capability", "args", "status"}}`."""
    return {
        name: {
            "capability": one["call"]["capability_id"],
            "args": one["call"]["args"],
            "status": one["result"]["status"],
        }
        for name, one in calls.items()
    }

"""Plan, verify and score of the loop: a planner proposes, and the critic says whether the run goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langgraph.runtime import get_runtime

from cinatra_sdk.engine.host_context import HostContext, context_of
from cinatra_sdk.errors import EffectDiffers, EffectRefused, NotConfigured
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.invocation import ToolResultEnvelope
from cinatra_sdk.governance.contracts.record_format import thaw
from cinatra_sdk.governance.contracts.refusals import REASONS, GovernanceRefused
from cinatra_sdk.governance.gateway.critic import describe_calls, score, verify
from cinatra_sdk.governance.gateway.planners import NoPlan, PlanRequest, read_planned
from cinatra_sdk.governance.loop.loop_state import RUN_STOPS, LoopCase, go_to
from cinatra_sdk.governance.packs.plan_outputs import Unresolved, fill_references
from cinatra_sdk.governance.run.budgets import call_within
from cinatra_sdk.outside.effects import Effect, EffectResult, perform
from cinatra_sdk.outside.effects.effect import Usage as EffectUsage
from cinatra_sdk.outside.effects.effect import read_failure

PLAN_TIMEOUT_MS = 15_000
"""Where neither pack nor request says less."""
LONGEST_PLAN_MS = 30_000
_CAUSES: Final[Mapping[str, str]] = {
    "missing_evidence": "EVIDENCE_MISSING",
    "approval_mode_mismatch": "MODE_EXCEEDS_DECLARED",
    "capability_unsurfaced": "CAPABILITY_UNSURFACED",
    "arguments_invalid": "ARGUMENTS_INVALID",
    "budget_exceeded": "BUDGET_EXCEEDED",
}
"""Codes of what the critic finds; PLAN_REFUSED for the rest."""
_STOPS: Final = (*RUN_STOPS, EffectRefused, EffectDiffers, NotConfigured)
"""What is no answer of the planner: the run itself stops, or the host has to mend it."""


def make_plan(case: LoopCase) -> dict[str, Any]:
    """Ask the planner, once for each attempt: after a crash its stored answer is read again."""
    loop, planner = case.loop, case.governance.planner
    if planner is None:
        raise NotConfigured(
            "a governed run needs a planner", hint="Governance(planner=ScriptedPlanner([…]))"
        )
    attempt = loop["attempt"] + 1
    request = _make_request(case, attempt)

    def ask() -> EffectResult:
        try:
            plan, tokens = read_planned(call_within(_choose_timeout(case), planner, request))
        except NoPlan as problem:
            # An answer of the planner, too: kept, counted, and not asked for twice.
            value: dict[str, Any] = {"problem": str(problem), "tokens": problem.tokens}
            return EffectResult(value=value, usage=EffectUsage(input_tokens=problem.tokens))
        return EffectResult(
            value={"plan": plan.to_json(), "tokens": tokens},
            usage=EffectUsage(input_tokens=tokens),
        )

    try:
        case.usage.reserve(case.run.run_budget)
        made = perform(
            _make_plan_effect(case, request), ask, context_of(get_runtime(HostContext).context).door
        )
    except GovernanceRefused as refused:
        return _escalate(case, refused, attempt=attempt)
    except _STOPS:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a planner raises, its words may hold secrets
        held = context_of(get_runtime(HostContext).context).credentials
        code = read_failure(error, (held.run_token, held.bearer_token)).code
        said = f"the planner failed ({type(error).__name__}, {code})"
        return ask_again(case, [said], cause="PLAN_REFUSED", attempt=attempt)
    assert isinstance(made.value, dict)  # made by `ask`, or stored from it
    case.usage.add(tokens=int(str(made.value["tokens"])))
    problem = made.value.get("problem")
    if problem:
        said = f"the planner gave no plan: {problem}"
        return ask_again(case, [said], cause="PLAN_REFUSED", attempt=attempt)
    return go_to(loop, "verify", attempt=attempt, plan=made.value["plan"], findings=[])


def _make_request(case: LoopCase, attempt: int) -> PlanRequest:
    return PlanRequest(
        run=_hide_tokens(case),
        compiled=case.compiled,
        decision=case.decision,
        attempt=attempt,
        findings=tuple(case.loop["findings"]),
        results=tuple(_list_results(case.loop)),
    )


def _make_plan_effect(case: LoopCase, request: PlanRequest) -> Effect:
    """Asking the planner, as an effect with a key for each attempt."""
    name = f"{case.run.run_id}\nplan\n{request.attempt}"
    return Effect(
        kind="model",
        capability="planner",
        node="plan",
        path="plan",
        visit=request.attempt,
        arguments={"attempt": request.attempt, "findings": list(request.findings)},
        key=hashlib.sha256(name.encode()).hexdigest(),
        run_id=case.run.run_id,
    )


def _escalate(case: LoopCase, refused: GovernanceRefused, **changed: Any) -> dict[str, Any]:
    if refused.code not in {"BUDGET_EXCEEDED", "TIMEOUT"}:
        said = f"the planner failed: {refused.code}"
        return ask_again(case, [said], cause="PLAN_REFUSED", **changed)
    reason = f"{refused.code}: {refused.message}"
    return go_to(case.loop, "record", status="ESCALATED", reason=reason, **changed)


def _hide_tokens(case: LoopCase) -> Any:
    """The run without the names of tokens, which no planner needs."""
    user = case.run.user
    if user.delegation is None:
        return case.run
    delegation = user.delegation.model_copy(update={"token_ref": None})
    return case.run.model_copy(update={"user": user.model_copy(update={"delegation": delegation})})


def _choose_timeout(case: LoopCase) -> int:
    packs = [one for one in case.book.packs if isinstance(one, ContextPack)]
    said = [one.pack_meta.environment_defaults.plan_timeout_ms for one in packs]
    said.append(case.envelope.runtime.plan_timeout_ms)
    return min([LONGEST_PLAN_MS, *(one for one in said if one)] if any(said) else [PLAN_TIMEOUT_MS])


def _list_results(loop: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "step": one["step"],
            "capability": one["call"]["capability_id"],
            "status": one["result"]["status"],
            "output": one["result"].get("output"),
            "evidence_ref": one["ref"],
        }
        for one in loop["calls"]
    ]


def verify_plan(case: LoopCase) -> dict[str, Any]:
    """`ok` begins the steps, `replan` asks the planner again, `reject` ends the run."""
    found = verify(case.plan, case.case)
    kept = {"verify": found.to_json()}
    if found.verdict == "ok":
        return go_to(case.loop, "step", cursor=0, pending=None, **kept)
    reasons = [f"{found.kind}: {reason}" for reason in found.reasons]
    if found.verdict == "reject":
        return go_to(case.loop, "record", status="REJECTED", reason="; ".join(reasons), **kept)
    cause = _CAUSES.get(str(found.kind), "PLAN_REFUSED")
    return ask_again(case, reasons, cause=cause, **kept)


def ask_again(case: LoopCase, findings: list[str], *, cause: str, **changed: Any) -> dict[str, Any]:
    """Another plan, as far as the budget allows one; else a person has to look.

    cause: the code of why this plan was not taken, with which a run ends that may not plan again.
    """
    used, budget = case.usage.read(), case.run.run_budget
    try:
        case.usage.reserve(budget, replans=1)
    except GovernanceRefused as refused:
        is_last = used.replans >= budget.max_replan_attempts
        code = cause if is_last else refused.code
        told = f"no further plan is asked for ({refused.message})"
        reason = f"{code}: {'; '.join(findings)}; {told}"
        ended = {"status": "ESCALATED", "reason": reason, "lacks_budget": True}
        return go_to(case.loop, "record", **{**changed, **ended})
    return go_to(case.loop, "plan", findings=findings, pending=None, **changed)


def _name_cause(reasons: Sequence[str]) -> str:
    """The code at the beginning of the critic's first reason, of a step that was not made."""
    code = (reasons[0] if reasons else "").partition(":")[0]
    return code if code in REASONS else _CAUSES.get(code, "PLAN_REFUSED")


def score_results(case: LoopCase) -> dict[str, Any]:
    """Whether the results carry the decision."""
    loop, plan = case.loop, case.plan
    newest = {one["step"]: one for one in loop["calls"]}
    try:
        outputs: Any = fill_references(thaw(plan.outputs), loop["done"])
    except Unresolved:
        outputs = None
    found = score(
        plan,
        {name: ToolResultEnvelope.read(one["result"]) for name, one in newest.items()},
        case.case,
        outputs=outputs,
        retries=loop["retries"],
        calls=describe_calls(newest),
    )
    kept = {"score": found.to_json()}
    match found.verdict:
        case "accept":
            ended = {"status": "DECIDED", "outcome": plan.outcome or "completed"}
            return go_to(loop, "consolidate", outputs=outputs, **ended, **kept)
        case "retry":
            step = str(found.offending_step)
            retries = {**loop["retries"], step: loop["retries"].get(step, 0) + 1}
            place = [one.id for one in plan.steps].index(step)
            return go_to(loop, "step", cursor=place, retries=retries, **kept)
        case "replan":
            return ask_again(case, list(found.reasons), cause=_name_cause(found.reasons), **kept)
        case _:
            reason = "; ".join(found.reasons)
            return go_to(loop, "record", status="ESCALATED", reason=reason, **kept)

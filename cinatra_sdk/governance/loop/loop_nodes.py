"""The nodes of the loop by their names: each runs in its turn only, and passes the turn on.

The planner proposes, the critic judges; `action.py` and `conclusion.py` hold the nodes after that.

builder.add_node("plan", nodes["plan"])        for each name of `NODES`
builder.add_conditional_edges("plan", route, {…})
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from langgraph.graph import END
from langgraph.runtime import get_runtime

from cinatra_sdk.blocks.step import NodeRunnable, node_of
from cinatra_sdk.contract import CALL_STEP
from cinatra_sdk.errors import EffectDiffers, EffectRefused, NodeFailed, NotConfigured
from cinatra_sdk.gates.hitl import GateNode, Outcome, Question, build_hitl_gate
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.invocation import ToolResultEnvelope
from cinatra_sdk.governance.contracts.record_format import thaw
from cinatra_sdk.governance.contracts.refusals import REASONS, GovernanceRefused
from cinatra_sdk.governance.gateway.admission import admit, describe_admitted
from cinatra_sdk.governance.gateway.context_compiler import compile_context, read_first_turn
from cinatra_sdk.governance.gateway.critic import describe_calls, score, verify
from cinatra_sdk.governance.gateway.host_record import GovernanceParts
from cinatra_sdk.governance.gateway.planners import NoPlan, PlanRequest, read_planned
from cinatra_sdk.governance.loop.action import ask_person, take_step, write_answer
from cinatra_sdk.governance.loop.conclusion import propose_memory, stay_escalated, write_record
from cinatra_sdk.governance.loop.loop_state import (
    GATE,
    NODES,
    REQUEST,
    RUN_STOPS,
    LoopCase,
    begin_loop,
    go_to,
    name_starter,
    read_usage,
)
from cinatra_sdk.governance.packs.plan_outputs import Unresolved, fill_references
from cinatra_sdk.governance.records.record_maker import format_time
from cinatra_sdk.governance.run.budgets import call_within
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.langgraph_threads.host_context import Effects, HostContext, context_of
from cinatra_sdk.langgraph_threads.lineage import does_not_act, refuse_forks, seen_update
from cinatra_sdk.langgraph_threads.state_channels import has_ended, seal, unseal
from cinatra_sdk.langgraph_threads.tasks import require_own_graph, telling_node, was_sent
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, read_failure
from cinatra_sdk.outside.effects.effect import Usage as EffectUsage
from cinatra_sdk.outside.effects.execution import perform

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


# ----------------------------------------------------------------------------
# The beginning of the loop: a request is admitted, and its context compiled.


def admit_request(state: Mapping[str, Any], governance: GovernanceParts) -> dict[str, Any]:
    """Raises: `GovernanceRefused`; then nothing of the run is kept but the refusal."""
    word = governance.read_word(name_starter(state["run"]))
    made = admit(
        state["input_params"][REQUEST],
        word,
        governance.registry,
        governance.ports,
        pack_refs=governance.pack_refs,
    )
    kept = describe_admitted(made, word, format_time(governance.ports.read_time()))
    return {"admitted": seal(kept), **go_to(state["loop"], "compile")}


def compile_request(case: LoopCase) -> dict[str, Any]:
    """Guardrails come first: what must be refused is refused before anybody plans."""
    ports = case.governance.ports
    told = read_first_turn(case.admitted, ports)
    compiled = compile_context(case.admitted, ports, told=told)
    kept = {"compiled": seal(compiled.to_json())}
    case.usage.add(tokens=compiled.budget_report.tokens_used_at_compile)
    controls = compiled.runtime_controls
    if controls.must_refuse:
        reason = _give_reason(case.book.must_refuse, controls.must_refuse)
        ended = {"status": "REJECTED", "reason": f"MUST_REFUSE: {reason}"}
        return {**kept, **go_to(case.loop, "record", **ended)}
    if controls.must_escalate:
        reason = _give_reason(case.book.must_escalate, controls.must_escalate)
        ended = {"status": "ESCALATED", "reason": f"MUST_ESCALATE: {reason}"}
        return {**kept, **go_to(case.loop, "record", **ended)}
    return {**kept, **go_to(case.loop, "plan")}


def _give_reason(guards: Any, names: tuple[str, ...]) -> str:
    return "; ".join(
        f"{one.guardrail_id} {one.reason}".strip() for one in guards if one.guardrail_id in names
    )


State = Mapping[str, Any]
_COMPUTES: Final[Mapping[str, Callable[[LoopCase], dict[str, Any]]]] = {
    "compile": compile_request,
    "verify": verify_plan,
    "score": score_results,
    "consolidate": propose_memory,
    "record": write_record,
    "escalated": stay_escalated,
}


def make_nodes(parts: HostParts, *, effects: Effects = "line") -> dict[str, Any]:
    """The nodes by name.

    Raises: `NotConfigured` where the host lends no governance.
    """
    governance = parts.governance
    if not isinstance(governance, GovernanceParts):
        raise NotConfigured(
            "a governed run needs packs and a planner",
            hint="HostParts(governance=Governance(registry=FolderRegistry('packs'), planner=…))",
        )
    made: dict[str, Any] = {
        name: _make_node(name, governance, work, effects="") for name, work in _COMPUTES.items()
    }
    made["admit"] = _make_admit(governance)
    made["plan"] = _make_node("plan", governance, make_plan, effects=effects)
    made["step"] = _make_node(
        "step", governance, lambda case: take_step(case, parts), effects=effects
    )
    made[GATE] = _make_gate(governance)
    return made


def route(state: State) -> str:
    """Whose turn it is; the end where nobody's."""
    loop = state.get("loop")
    if has_ended(state) or not loop:
        return END
    return str(loop["next"]) if loop["next"] in NODES else END


def _may_run(name: str, state: State) -> bool:
    if has_ended(state) or was_sent():
        return False
    require_own_graph(state, name)
    loop = state.get("loop")
    return isinstance(loop, Mapping) and loop["next"] == name


def _make_admit(governance: GovernanceParts) -> NodeRunnable:
    def run(state: State) -> dict[str, Any]:
        if has_ended(state) or was_sent() or "admitted" in state:
            return {}
        require_own_graph(state, "admit")
        with telling_node(path="admit", visit=1):
            return _in_words(
                "admit", lambda: admit_request({**state, "loop": begin_loop()}, governance)
            )

    return does_not_act(_make_async("admit", run))


def _make_node(
    name: str,
    governance: GovernanceParts,
    work: Callable[[LoopCase], dict[str, Any]],
    *,
    effects: Effects | str,
) -> NodeRunnable:
    def run(state: State) -> dict[str, Any]:
        if not _may_run(name, state):
            return {}
        seen = ""
        if effects:
            since = state.get("seen", "")
            seen = refuse_forks(
                state, get_runtime(HostContext), node=name, effects=_known(effects), since=since
            )
        usage = read_usage(state["loop"])
        case = LoopCase(governance, state, usage)
        with telling_node(path=name, visit=int(state["loop"]["seq"])), usage.working():
            update = _in_words(name, lambda: work(case))
        return {**_with_usage(update, case), **(seen_update(seen) if seen else {})}

    node = _make_async(name, run)
    return node if effects else does_not_act(node)


def _known(effects: Effects | str) -> Effects:
    return "forks" if effects == "forks" else "line"


def _with_usage(update: dict[str, Any], case: LoopCase) -> dict[str, Any]:
    """The update with what the run has used up by now."""
    loop = unseal(update["loop"])
    return {**update, "loop": seal({**loop, "used": asdict(case.usage.read())})}


def _in_words(name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A refusal as the error of its node, with its code."""
    try:
        return work()
    except GovernanceRefused as error:
        refused = error
    raise NodeFailed(refused.message, node=name, code=refused.code, hint=refused.hint)


def _make_async(name: str, run: Callable[[State], dict[str, Any]]) -> NodeRunnable:
    async def arun(state: State) -> dict[str, Any]:
        return await asyncio.to_thread(run, state)

    return node_of(name, run, arun)


def _make_gate(governance: GovernanceParts) -> GateNode:
    """A node of its own for the person: it only asks, and keeps the answer."""

    def read(state: State) -> LoopCase:
        return LoopCase(governance, state, read_usage(state["loop"]))

    def ask(state: State) -> Question:
        return ask_person(read(state))

    def write(state: State, outcome: Outcome) -> dict[str, Any]:
        return write_answer(read(state), outcome)

    gate = build_hitl_gate(
        step_number=CALL_STEP,
        node=GATE,
        name="Approval",
        risk_class="read_only",
        always=True,
        ask=ask,
        write=write,
    )

    def once(state: State) -> Any:
        return gate(state) if _may_run(GATE, state) else {}

    return does_not_act(once)

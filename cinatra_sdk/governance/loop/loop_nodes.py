"""The nodes of the loop by their names: each runs in its turn only, and passes the turn on.

builder.add_node("plan", nodes["plan"])        for each name of `NODES`
builder.add_conditional_edges("plan", route, {…})
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from langgraph.graph import END
from langgraph.runtime import get_runtime

from cinatra_sdk.blocks.step import NodeRunnable, node_of
from cinatra_sdk.contract import CALL_STEP
from cinatra_sdk.engine.host_context import Effects, HostContext
from cinatra_sdk.engine.lineage import does_not_act, refuse_forks, seen_update
from cinatra_sdk.engine.state_channels import has_ended, seal, unseal
from cinatra_sdk.engine.tasks import require_own_graph, telling_node, was_sent
from cinatra_sdk.errors import NodeFailed, NotConfigured
from cinatra_sdk.gates.hitl import GateNode, Outcome, Question, build_hitl_gate
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import admit, describe_admitted
from cinatra_sdk.governance.gateway.context_compiler import compile_context, read_first_turn
from cinatra_sdk.governance.gateway.host_record import GovernanceParts
from cinatra_sdk.governance.loop.action import ask_person, take_step, write_answer
from cinatra_sdk.governance.loop.conclusion import propose_memory, stay_escalated, write_record
from cinatra_sdk.governance.loop.decision_step import make_plan, score_results, verify_plan
from cinatra_sdk.governance.loop.loop_state import (
    GATE,
    NODES,
    REQUEST,
    LoopCase,
    begin_loop,
    go_to,
    name_starter,
    read_usage,
)
from cinatra_sdk.governance.records.record_maker import format_time
from cinatra_sdk.host_parts.host_parts import HostParts

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

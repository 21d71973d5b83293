"""Step and gate of the loop: one call at a time through the gateway, and the person in front of it.

`step` examines the next call of the plan.  Where a person has to approve, it passes the turn to `gate`,
with the hash over capability, arguments and evidence.  After the answer `step` examines the call again,
and makes it only if the hash is still the same.  A call is one effect: key, record and replay are those
of the door.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.contract import FALLBACK_RENDERER
from cinatra_sdk.errors import EffectDiffers, EffectRefused
from cinatra_sdk.flow.visit.governance_gate import describe_call
from cinatra_sdk.gates.forms.approval_forms import CONFIRMATION_SCHEMA, ConfirmationForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question
from cinatra_sdk.governance.contracts.invocation import ToolCallEnvelope, ToolResultEnvelope
from cinatra_sdk.governance.contracts.plans import PlanStep
from cinatra_sdk.governance.contracts.record_format import hash_of, thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import list_defaults
from cinatra_sdk.governance.gateway.call_proposal import GovernedCall
from cinatra_sdk.governance.gateway.call_result import (
    cite_call,
    make_failed_result,
    make_refused_result,
    make_result,
)
from cinatra_sdk.governance.gateway.facts import describe_declared
from cinatra_sdk.governance.gateway.gateway import Examined
from cinatra_sdk.governance.loop.capabilities import call_flow, find_function, read_cost, read_made
from cinatra_sdk.governance.loop.loop_state import (
    GATE,
    RUN_STOPS,
    WAITING,
    LoopCase,
    go_to,
    list_approvals,
    list_recorded,
)
from cinatra_sdk.governance.packs.pack_policy import NOT_REQUESTER
from cinatra_sdk.governance.packs.plan_outputs import Unresolved, fill_references
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability
from cinatra_sdk.governance.records.record_maker import format_time
from cinatra_sdk.governance.records.story import SIMULATED, block_waiting, describe_examined
from cinatra_sdk.governance.run.budgets import Allowance, call_within
from cinatra_sdk.governance.run.current_call import CurrentCall, during_call, make_trace_context
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.outside.effects.effect import (
    Effect,
    EffectKind,
    EffectResult,
    kind_of,
    read_failure,
)
from cinatra_sdk.outside.effects.execution import perform
from cinatra_sdk.outside.effects.platform_calls import simulates
from cinatra_sdk.outside.http_calls.protocol import Credentials

# ----------------------------------------------------------------------------
# How long the session of a run lasts, and whether somebody renewed it.
#
# find_overdue(case)   ->  "nobody has renewed the session for 60000 ms"


def find_overdue(case: LoopCase) -> str:
    """Why a long run may not go on: its session is over, or nobody renewed it."""
    defaults = list_defaults(case.book.packs)
    now = case.governance.ports.read_time()
    begun = datetime.fromisoformat(case.state["admitted"]["at"])
    hint = case.envelope.runtime.max_session_duration_ms
    longest = [one for one in (*(own.max_session_duration_ms for own in defaults), hint) if one]
    if longest and (now - begun).total_seconds() * 1000 > min(longest):
        return f"the session is older than {min(longest)} ms"
    ports = case.governance.ports
    ttl = min((own.heartbeat_ttl_ms for own in defaults if own.heartbeat_ttl_ms), default=0)
    if case.envelope.mode == "long_running" and ttl and ports.heartbeat is not None:
        last = ports.read_heartbeat(case.run.run_id) or begun
        if (now - last).total_seconds() * 1000 > ttl:
            return f"nobody has renewed the session for {ttl} ms"
    return ""


KEY_ARGUMENT: Final = "idempotency_key"
LONGEST_KEY: Final = 200
TOOL_TIMEOUT_MS: Final = 120_000
_REQUESTS: Final = ("http", "openapi")
"""Types of adapters that call the platform."""
_KINDS: Final[Mapping[str, EffectKind]] = {
    "tool": "tool", "agent": "tool", "model": "model", "a2a": "a2a", "mcp": "mcp",
    "http": "http", "openapi": "http",
}  # fmt: skip


def take_step(case: LoopCase, parts: HostParts) -> dict[str, Any]:
    """Carry out the step at the cursor, or send it to a person."""
    loop, plan = case.loop, case.plan
    if loop["cursor"] >= len(plan.steps):
        return go_to(loop, "score")
    step = plan.steps[loop["cursor"]]
    if _is_done(case, step):
        return go_to(loop, "step", cursor=loop["cursor"] + 1)
    late = find_overdue(case)
    if late:
        return go_to(loop, "record", status="ESCALATED", reason=f"TIMEOUT: {late}")
    try:
        call = make_call(case, step)
    except Unresolved as problem:
        return go_to(loop, "record", status="ESCALATED", reason=f"ARGUMENTS_INVALID: {problem}")
    examined = case.gateway.examine(call, list_recorded(loop))
    pending = examined.list_pending(list_approvals(loop))
    if examined.refusal is None and pending:
        lacking = case.gateway.find_lacking(examined)
        if lacking is not None:
            return _act(case, parts, step, replace(examined, refusal=lacking))
        asked = {
            "step": step.id,
            "gate": pending[0],
            "snapshot_hash": examined.snapshot_hash,
            "capability": call.capability_id,
            "arguments": case.gateway.redact(call.args),
            "mode": examined.decision.effective_approval_mode if examined.decision else "",
            "evidence": [one.ref for one in examined.evidence],
            WAITING: _describe_waiting(step, examined, pending[0]),
        }
        return go_to(loop, GATE, pending=asked)
    return _act(case, parts, step, examined)


def _describe_waiting(step: PlanStep, examined: Examined, gate: str) -> dict[str, Any]:
    """The call as a record tells it while a person is asked."""
    assert examined.envelope is not None  # what a gate shows is declared
    waits = GovernanceRefused("GATE_PENDING", f"it waits for '{gate}'")
    return _describe_kept(step, examined, make_refused_result(examined.envelope, waits))


def _describe_kept(
    step: PlanStep, examined: Examined, result: ToolResultEnvelope
) -> dict[str, Any]:
    """A call and what came of it, as the loop keeps it."""
    assert examined.envelope is not None
    return {
        "step": step.id,
        "asked": hash_of([step.tool, thaw(examined.call.args)]),
        **describe_examined(examined),
        "result": result.to_json(),
        "ref": cite_call(examined.envelope),
        "sha256": hash_of(thaw(result.output)),
    }


def make_call(case: LoopCase, step: PlanStep) -> GovernedCall:
    """The call that a step makes now.  Raises: `Unresolved`."""
    loop, run = case.loop, case.run
    args = fill_references(thaw(step.params), loop["done"])
    attempt = loop["attempt"]
    name = step.id if attempt == 1 else f"{step.id}_{attempt}"
    declared = case.book.capabilities.get(step.tool)
    key = args.get(KEY_ARGUMENT) if isinstance(args, dict) else None
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        # Of the call itself, so that another plan with the same call is the same call.
        key = "ik_" + hash_of([run.run_id, step.tool, args])[len("sha256:") :][:16]
    return GovernedCall(
        capability_id=step.tool,
        args=args,
        tool_call_id=name,
        idempotency_key=key if declared is not None and declared.writes else None,
        mode_requested=step.approval_mode,
        evidence_refs=step.evidence_refs,
        gates=step.requires,
        metadata={"step": step.id},
        about={} if declared is None else describe_declared(declared),
    )


def _is_done(case: LoopCase, step: PlanStep) -> bool:
    """Whether an earlier plan made the very call, with the very arguments: their sources may differ now."""
    made = [one for one in case.loop["calls"] if one["step"] == step.id]
    if step.id not in case.loop["done"] or not made:
        return False
    try:
        args = fill_references(thaw(step.params), case.loop["done"])
    except Unresolved:
        return False
    return bool(made[-1]["asked"] == hash_of([step.tool, args]))


def _act(case: LoopCase, parts: HostParts, step: PlanStep, examined: Examined) -> dict[str, Any]:
    loop = case.loop
    if examined.envelope is None:
        # Nothing declares the capability: there is no envelope to keep.
        refusal = examined.refusal
        assert refusal is not None
        return go_to(loop, "record", status="REJECTED", reason=f"{refusal.code}: {refusal.message}")
    began = time.monotonic()
    try:
        made = _perform(case, parts, examined)
    except GovernanceRefused as refusal:
        result = make_refused_result(examined.envelope, refusal, latency_ms=_since(began))
    except EffectDiffers:
        conflict = GovernanceRefused(
            "IDEMPOTENCY_CONFLICT", f"'{step.tool}': the key was used with other arguments"
        )
        result = make_refused_result(examined.envelope, conflict)
    except EffectRefused as refused:
        denied = GovernanceRefused("POLICY_DENIED", refused.message)
        result = make_refused_result(examined.envelope, denied)
    except RUN_STOPS:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is a result of its call
        result = make_failed_result(examined.envelope, _describe(error), latency_ms=_since(began))
    else:
        output = case.gateway.redact(made.get("output"))
        case.usage.add(cost_cents=read_cost(made))
        result = make_result(
            examined, made, latency_ms=_since(began), approvals=list_approvals(loop),
            redacted=output, retries=loop["retries"].get(step.id, 0),
        )  # fmt: skip
        return _keep(case, step, examined, result, output=made.get("output"))
    return _keep(case, step, examined, result)


def _since(began: float) -> int:
    return max(0, round((time.monotonic() - began) * 1000))


def _describe(error: Exception) -> dict[str, Any]:
    """What a record may say of an error: its kind, and whether a later try may help."""
    held = context_of(get_runtime(HostContext).context).credentials
    failure = read_failure(error, (held.run_token, held.bearer_token))
    return {
        "code": failure.code,
        "message": failure.message,
        "transient": kind_of(error) == "transient",
        "may_have_happened": failure.reached,
    }


def _perform(case: LoopCase, parts: HostParts, examined: Examined) -> dict[str, JsonValue]:
    """Make the call through the door.  Raises: as `perform`; `GovernanceRefused`."""
    call, declared, envelope = examined.call, examined.declared, examined.envelope
    if declared is None or envelope is None or examined.decision is None or examined.refusal:
        assert examined.refusal is not None
        raise examined.refusal
    host = context_of(get_runtime(HostContext).context)
    simulated = declared.adapter.type in _REQUESTS and simulates(parts.platform)
    effect = _make_effect(case, examined, declared, host.credentials, simulated=simulated)
    current = _describe_current(case, envelope)
    longest = case.book.choose_timeout(declared) or TOOL_TIMEOUT_MS

    def do() -> EffectResult:
        # Right before the call, and after the ledger: a call that was made is not counted again.
        case.gateway.redeem(examined, list_approvals(case.loop))
        with during_call(current):
            made = call_within(
                longest, find_caller(case, parts, declared, current, effect.key), dict(call.args)
            )
        told = {SIMULATED: True} if effect.simulated else {}
        return EffectResult(value={**read_made(made, declared), **told})

    made = perform(effect, do, host.door)
    if made.status == "replayed":
        # A process that died after the call had counted it, and kept nothing of that.
        case.usage.add(tool_calls=1, cost_cents=declared.about.cost_cents)
    assert isinstance(made.value, dict)  # made by `do`, or stored from it
    return made.value


def _make_effect(
    case: LoopCase,
    examined: Examined,
    declared: DeclaredCapability,
    held: Credentials,
    *,
    simulated: bool,
) -> Effect:
    call, envelope = examined.call, examined.envelope
    assert envelope is not None  # see `_perform`
    return Effect(
        kind=_KINDS[declared.adapter.type],
        capability=declared.id,
        node="step",
        path=f"step/{call.tool_call_id}",
        arguments={"capability": declared.id, "args": dict(call.args)},
        risk=envelope.approval_mode_effective,
        key=_make_effect_key(case, call),
        once=declared.about.at_most_once,
        run_id=case.run.run_id,
        simulated=simulated,
        governed=describe_examined(examined, simulated=simulated),
        secrets=(held.run_token, held.bearer_token),
    )


def _describe_current(case: LoopCase, envelope: ToolCallEnvelope) -> CurrentCall:
    decision = case.decision
    trace = make_trace_context(
        case.run, envelope.tool_call_id, pack=case.book.primary.ref,
        decision=decision.decision_key if decision else "",
        flags=case.envelope.trace.trace_flags or "01",
    )  # fmt: skip
    allowance = Allowance(case.usage, case.run.run_budget)
    return CurrentCall(run=case.run, envelope=envelope, allowance=allowance, trace=trace)


def find_caller(
    case: LoopCase, parts: HostParts, declared: DeclaredCapability, call: CurrentCall, key: str
) -> Callable[[dict[str, Any]], Any]:
    """What makes the call: a flow of the host under an agent's name, else as `calling` has it."""
    flow = case.governance.agents.get(declared.bound_to)
    if declared.adapter.type == "agent" and flow is not None:
        return lambda args: call_flow(flow, declared, call, args)
    return find_function(declared, parts, call, key)


def _make_effect_key(case: LoopCase, call: GovernedCall) -> str:
    """A writing call is known by its idempotency key, whichever plan makes it."""
    parts = [case.run.run_id, call.capability_id]
    parts += (
        ["key", call.idempotency_key]
        if call.idempotency_key
        else ["call", call.tool_call_id, str(case.loop["retries"].get(call.tool_call_id, 0))]
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _keep(
    case: LoopCase,
    step: PlanStep,
    examined: Examined,
    result: ToolResultEnvelope,
    *,
    output: Any = None,
    also: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Keep the transcript of the call, and go on with the next step or with the critic."""
    loop = case.loop
    calls = [*loop["calls"], _describe_kept(step, examined, result)]
    if result.status not in ("ok", "completed"):
        return go_to(loop, "score", calls=calls, pending=None, **(also or {}))
    done, at = {**loop["done"], step.id: output}, loop["cursor"] + 1
    following = "step" if at < len(case.plan.steps) else "score"
    return go_to(loop, following, calls=calls, done=done, cursor=at, pending=None)


# ------------------------------------------------------------------ the person


def ask_person(case: LoopCase) -> Question:
    """What the person sees: the call, its arguments, what it rests on, and the hash of all three."""
    loop, asked = case.loop, case.loop["pending"]
    gate = case.book.gates[asked["gate"]]
    visit = loop["gate_visits"] + 1
    values = describe_call({**asked, "note": loop.get("wrong_approver")})
    values["intent"] = case.envelope.input.intent
    if gate.required_approver_role:
        values["approver_role"] = gate.required_approver_role
    if gate.approver == NOT_REQUESTER:
        values["approver"] = NOT_REQUESTER
    return Question(
        values=values,
        form=ConfirmationForm(output=GATE, call=str(asked["capability"])),
        schema=CONFIRMATION_SCHEMA,
        renderer=FALLBACK_RENDERER,
        gate_id=gate_id(case.state, GATE, visit),
        visit=visit,
        risk=str(asked["mode"]),
        name=f"Call {asked['capability']}",
    )


def write_answer(case: LoopCase, outcome: Outcome) -> dict[str, Any]:
    """A yes leads back to the step, with the hash; a denial is a result; a rejection ends the run."""
    loop, asked = case.loop, case.loop["pending"]
    visits = loop["gate_visits"] + 1
    if outcome.approved:
        try:
            case.gateway.require_approver(asked["gate"], outcome.by)
        except GovernanceRefused as refused:
            return go_to(loop, GATE, gate_visits=visits, wrong_approver=refused.message)
    approval = {
        "gate_id": asked["gate"],
        "approver": outcome.by or "somebody",
        "mode": asked["mode"],
        "snapshot_hash": asked["snapshot_hash"],
        "decided_at": format_time(datetime.fromisoformat(outcome.at)),
        "decision": outcome.decision,
        "reason": outcome.reason,
        "step": asked["step"],
    }
    approvals = [*loop["approvals"], approval]
    kept: dict[str, Any] = {"approvals": approvals, "gate_visits": visits, "wrong_approver": ""}
    if outcome.approved:
        return go_to(loop, "step", **kept)
    reason = f"GATE_REJECTED: {asked['gate']} {outcome.reason}".strip()
    if outcome.denied:
        return _keep_denial(case, reason, kept)
    # An earlier release kept nothing of the call that it asked about.
    blocked = block_waiting([asked[WAITING]] if WAITING in asked else [], reason)
    kept["calls"] = [*loop["calls"], *blocked]
    return go_to(loop, "record", status="REJECTED", reason=reason, pending=None, **kept)


def _keep_denial(case: LoopCase, reason: str, kept: dict[str, Any]) -> dict[str, Any]:
    """The call is not made, and the critic sees it as blocked."""
    place = case.loop["cursor"]
    step = case.plan.steps[place]
    examined = case.gateway.examine(make_call(case, step), list_recorded(case.loop))
    assert examined.envelope is not None  # it was shown to the person
    refusal = GovernanceRefused("GATE_REJECTED", reason)
    return _keep(case, step, examined, make_refused_result(examined.envelope, refusal), also=kept)

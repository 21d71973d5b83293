"""The beginning of the loop: a request is admitted, and its context compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.governance.admission import admit, describe_admitted
from cinatra_sdk.governance.compiling import compile_context
from cinatra_sdk.governance.first_turn_block import read_first_turn
from cinatra_sdk.governance.loop.case import LoopCase
from cinatra_sdk.governance.loop.state import REQUEST, go_to
from cinatra_sdk.governance.parts import GovernanceParts
from cinatra_sdk.governance.recording import format_time
from cinatra_sdk.governance.starter import name_starter
from cinatra_sdk.governed.state import seal


def admit_request(state: Mapping[str, Any], governance: GovernanceParts) -> dict[str, Any]:
    """Raises: `GovernanceRefused`; then nothing of the run is kept but the refusal."""
    word = governance.read_word(name_starter(state["run"]))
    made = admit(state["input_params"][REQUEST], word, governance.registry, governance.ports)
    kept = describe_admitted(made, word, format_time(governance.ports.clock()))
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

"""Approval that is written at a call does not make anybody ask.

    ApiNode save {"riskClass": "write", "requiresApproval": true}, no gate before it   ->  OAS232
    the same behind an InputMessageNode

`requiresApproval` and `approvalPolicy` of a call are notes for a host: nothing pauses because of
them.  They mislead where the call acts and no person was asked before.  A send is OAS200.
"""

from __future__ import annotations

from oas_compiler.checks.control_flow import ControlFlow, Step
from oas_compiler.checks.control_loops import every_flow
from oas_compiler.checks.control_paths import Openings, asks_a_person
from oas_compiler.checks.subject import Subject
from oas_compiler.control.approval import waived_gates
from oas_compiler.control.risk import WRITE, weight
from oas_compiler.findings.rules import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.registry import find_kind
from oas_compiler.text.marks import child

_NO_POLICY = frozenset({"", "never", "none"})


@rule(
    code="OAS232",
    name="approval-without-gate",
    severity="warning",
    summary="A call says that it requires approval, and no gate stands before it.",
    fix="Put an InputMessageNode before the call, or take requiresApproval away.",
    source="agent guide, rule 4; Cinatra, ApiNode metadata",
    needs="flow",
    bad="start → save     (ApiNode, riskClass write, requiresApproval true)",
    good="start → approve → save     (approve: InputMessageNode)",
)
def approval_without_gate(subject: Subject, report: Report) -> None:
    root, flow = subject.control, subject.flow
    if root is None or flow is None:
        return
    openings = Openings(stops=asks_a_person)
    reached = _open_from(root, openings, waived_gates(flow))
    for step in reached:
        key = _asks_for_approval(step)
        if not key:
            continue
        place = step.pointer
        for name in ("metadata", "cinatra", key):
            place = child(place, name)
        report(
            f'{key} of "{step.id[:80]}" makes nobody ask: no gate stands before this {step.type}',
            subject.place(place),
            hint="put an InputMessageNode before it; only gates pause a run",
        )


def _open_from(
    root: ControlFlow, openings: Openings, waived: frozenset[tuple[str, ...]]
) -> list[Step]:
    """The nodes at any depth that control can come to before any gate, each once."""
    flows = {(flow.pointer, waives): flow for flow, waives in every_flow(root, waived)}
    entered = {root.pointer}
    found: dict[str, Step] = {}
    for (pointer, waives), flow in flows.items():
        if pointer not in entered:
            continue
        for reached in openings.of(flow, waives).trails:
            step = flow.steps[reached]
            found.setdefault(reached, step)
            entered.update(inner.pointer for inner in step.inner)
    return list(found.values())


def _asks_for_approval(step: Step) -> str:
    """The member that promises an approval for a call that acts; empty where none does."""
    acts = weight(step.risk_class) >= WRITE and not step.risk_class.startswith("draft_")
    kind = find_kind(step.type)
    if kind is None or not kind.is_call or not acts or step.sends or step.confirmed or step.is_gap:
        return ""
    if _is_policy(step.cinatra.get("approvalPolicy")):
        return "approvalPolicy"
    return "requiresApproval" if step.cinatra.get("requiresApproval") is True else ""


def _is_policy(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _NO_POLICY
    return bool(value)

"""Nothing acts on the world outside before a person was asked, whatever way a run takes.

    start → draft → send                                     ->  OAS200 at "send"
    start → draft → gate → send
    start → check ─yes→ gate → send, check ─no→ send         ->  OAS200: start → check → send

One walk from the outermost StartNode with the gates taken away: a node of a send class that it
still meets is not guarded.  A container of a send class is a send as a whole, and so may be the
calls inside it (control_calls.py).  Subflows, maps and catch branches are walked through; nothing is said
of what comes after a node that could not be read.
"""

from __future__ import annotations

from oas_compiler.approval import waived_gates
from oas_compiler.checks.control_calls import ContainerCalls
from oas_compiler.checks.control_flow import ControlFlow, Step
from oas_compiler.checks.control_paths import (
    Openings,
    Waived,
    asks_a_person,
    below,
    longer,
)
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS200",
    name="ungated-send",
    severity="error",
    summary="A node that acts on the world outside can run before any person was asked.",
    fix="Put an InputMessageNode before it on every path from the StartNode.",
    source="agent guide (seed 003), rule 4; Cinatra risk classes",
    needs="flow",
    bad=(
        "from_node: {$component_ref: draft}\n"
        "to_node: {$component_ref: send}  # riskClass: email_send"
    ),
    good=(
        "from_node: {$component_ref: approval_gate}\n"
        "to_node: {$component_ref: send}  # and draft leads to approval_gate"
    ),
)
def ungated_send(subject: Subject, report: Report) -> None:
    root = subject.control
    if root is None or subject.flow is None:
        return
    waived = waived_gates(subject.flow)
    openings = Openings(stops=asks_a_person)
    calls = ContainerCalls(openings=openings)
    waiting: list[tuple[ControlFlow, Waived, tuple[str, ...]]] = [(root, waived, ())]
    walked = {(root.pointer, waived)}
    reported: set[str] = set()
    for flow, waived_here, around in waiting:
        for pointer, trail in openings.of(flow, waived_here).trails.items():
            step = flow.steps[pointer]
            way = _way(around, trail)
            if pointer not in reported and _is_open_send(step, calls, waived_here):
                reported.add(pointer)
                _report(subject, report, step, way, waived=bool(waived_here))
            inside = below(waived_here, step)
            for inner in step.inner:
                if (inner.pointer, inside) not in walked:
                    walked.add((inner.pointer, inside))
                    waiting.append((inner, inside, way))


def _is_open_send(step: Step, calls: ContainerCalls, waived: Waived) -> bool:
    """Whether the node, which control can come to, sends without asking a person itself."""
    if not step.sends or step.confirmed or step.is_gap:
        return False
    # what a container is marked with is done when it has run whole, or by a call inside it
    return not step.inner or calls.openings.passes(step, waived) or calls.acts_first(step, waived)


def _way(around: tuple[str, ...], trail: tuple[str, ...]) -> tuple[str, ...]:
    """A way inside a container after the way to it; the inner StartNode says nothing new."""
    if not around:
        return trail
    way = around
    for name in trail[1:]:
        way = longer(way, name if name == "…" else f"{around[-1]}/{name}")
    return way


def _report(
    subject: Subject, report: Report, step: Step, way: tuple[str, ...], *, waived: bool
) -> None:
    hint = "put an InputMessageNode before it on every path"
    if waived:
        hint += "; a gate whose gateSteps entry says requiresApproval false asks nobody"
    report(
        f'"{step.id[:80]}" ({step.risk_class[:80]}) can run before any person was asked: '
        f"{' → '.join(way)}",
        subject.place(step.pointer),
        hint=hint,
    )

"""On every way of a run, a gate comes before a node that acts on the world outside.

    start → draft → send                                     ->  OAS200 at "send"
    start → draft → gate → send
    start → check ─yes→ gate → send, check ─no→ send         ->  OAS200: start → check → send

`control/openings.py` defines sends and the ways to them.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.openings import OpenNode, asks_a_person, find_open_sends
from oas_compiler.control.risk_classes import counted_class
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS200",
    name="ungated-send",
    severity="error",
    summary="A node that acts on the world outside can run before any person was asked.",
    fix="Put an InputMessageNode before it on every path from the StartNode.",
    source="agent guide, rule 4; Cinatra risk classes",
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
    control = subject.control
    if control is None:
        return
    for found in find_open_sends(control.flow, control.waived, asks_a_person):
        _report_ungated_send(report, found)


def _report_ungated_send(report: Report, found: OpenNode) -> None:
    hint = "put an InputMessageNode before it on every path"
    if found.waived:
        hint += "; a gate whose gateSteps entry says requiresApproval false asks nobody"
    report(
        f'"{found.node.id[:80]}" ({counted_class(found.node)[:80]}) can run before any person was '
        f"asked: {' → '.join(found.way)}",
        found.node.place,
        hint=hint,
    )

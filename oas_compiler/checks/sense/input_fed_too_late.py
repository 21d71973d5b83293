"""An input that must have a value gets it from a node that can run before.

write → send → end, and the only edge into write.note comes from send    ->   OAS235
write → send → write (a loop)                                            ->   fine
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import late_inputs
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS235",
    name="input-fed-too-late",
    severity="error",
    summary="An input without a default is fed only by nodes that never run before its node.",
    fix="Feed it from a node that runs before, or change the order of the nodes.",
    source="Agent Spec, data flow",
    needs="flow",
    bad="start → confirm → send,  send.messageId → confirm.subject",
    good="start → confirm → send,  start.subject → confirm.subject",
)
def input_fed_too_late(subject: Subject, report: Report) -> None:
    for late in late_inputs(subject):
        if not late.is_fed and not late.has_default:
            report(late.message, late.place, hint=late.hint)

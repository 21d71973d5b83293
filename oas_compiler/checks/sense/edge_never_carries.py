"""Every data edge can carry something: its source can run before its destination.

    write → send → end, an edge send.id → write.note, and note has a default   ->   OAS236
    a branch yes → a, no → b, and an edge a.text → b.text beside another one   ->   OAS236

Where the input has neither a default nor another edge, OAS235 says so.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import late_inputs
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import StartNode
from oas_compiler.kinds.plugin_variable import is_carrier


@rule(
    code="OAS236",
    name="edge-never-carries",
    severity="warning",
    summary="A data edge comes from a node that never runs before the node it leads to.",
    fix="Remove the edge, or take the value from a node that runs before.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='start → write → send,  send.messageId → write.note   ("note" has a default)',
    good='start → write → send,  start.note → write.note   ("note" has a default)',
)
def edge_never_carries(subject: Subject, report: Report) -> None:
    for late in late_inputs(subject):
        if late.is_by_name or all(is_carrier(edge.input) for edge in late.edges):
            continue  # no author wrote it, and the variable has its default
        if late.is_fed or late.has_default:
            instead = "another edge feeds it" if late.is_fed else "it always has its default"
            if isinstance(late.node, StartNode):
                instead = "whoever starts the flow gives it"
            report(f"{late.message}: {instead}", late.place, hint=late.hint)

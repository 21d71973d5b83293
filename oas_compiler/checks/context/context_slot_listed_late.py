"""The FlowNode of a context slot is listed before the nodes that use its selection.

    "nodes": [start, write, context_brand, end]     ->  OAS159 (warning) at the FlowNode
    "nodes": [start, context_brand, write, end]

The order of `nodes` does not decide the order of running, but the host's conformance test reads it.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS159",
    name="context-slot-listed-late",
    severity="warning",
    summary="In nodes, the FlowNode of a context slot comes after a consumer of the slot.",
    fix="Move its entry in nodes before the consumer's.",
    source="Cinatra, conformance test of flows with context slots",
    needs="cinatra",
    bad="nodes: [{$component_ref: write}, {$component_ref: context_brand}]",
    good="nodes: [{$component_ref: context_brand}, {$component_ref: write}]",
)
def context_slot_listed_late(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        position = {node.id: index for index, node in enumerate(found.flow.nodes)}
        for slot in found.slots:
            if slot.node is None:
                continue
            own = position[slot.node.id]
            late = next((e.target for e in slot.bindings if position[e.target] < own), "")
            if late:
                report(
                    f'"{slot.node.id[:90]}" is listed after "{late[:80]}", which uses what it selects',
                    slot.node.place,
                    hint="the host's conformance test wants it listed first",
                )

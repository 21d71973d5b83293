"""The FlowNode of a context slot gets the run and the package as inputs.

no data edge into context_brand.parentRunId            ->  OAS155 at the FlowNode
edges into parentRunId, parentPackageName, slotId and projectId
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import SELECTION_INPUTS
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS155",
    name="context-slot-inputs",
    severity="error",
    summary="The FlowNode of a context slot is not fed with run, package, slot and project.",
    fix="Add data edges into parentRunId, parentPackageName, slotId and projectId.",
    source="context slots, adoption checklist 8: data edges in",
    needs="cinatra",
    bad=(
        "# one data edge only\n"
        "source_node: {$component_ref: start}\n"
        "source_output: cinatra_run_id\n"
        "destination_node: {$component_ref: context_brand}\n"
        "destination_input: parentRunId"
    ),
    good=(
        "# and edges into parentPackageName, slotId, projectId\n"
        "source_node: {$component_ref: start}\n"
        "source_output: cinatra_run_id\n"
        "destination_node: {$component_ref: context_brand}\n"
        "destination_input: parentRunId"
    ),
)
def context_slot_inputs(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        for slot in found.slots:
            if slot.node is None or not found.is_whole:
                continue
            fed = {edge.input for edge in found.flow.data_edges_into(slot.node.id)}
            # an input that has to be fed is OAS063's finding
            fed |= {port.title for port in slot.node.inputs if port.default is None}
            missing = [name for name in SELECTION_INPUTS if name not in fed]
            if missing:
                report(
                    f'"{slot.node.id[:90]}" selects for the context slot "{slot.id[:80]}" and no '
                    f"data edge feeds its {', '.join(missing)}",
                    slot.node.place,
                    hint="run, package, slot and project come from inputs of the StartNode",
                )

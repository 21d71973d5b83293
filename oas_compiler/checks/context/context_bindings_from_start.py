"""A flow that declares context slots selects for itself and takes no selection from its caller.

    start.contextSlotBindings → write.contextSlotBindings, start.contextRefs → end.contextRefs   ->  OAS160
    context_brand.contextSlotBindings → write.contextSlotBindings

A parent may pass a selection to a subflow that declares no slots, or whose slots the parent fills
by agreement (`parentSatisfiedContextSlots`).
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import BINDINGS, REFS, SlotFlow
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import DataEdge, EndNode


@rule(
    code="OAS160",
    name="context-bindings-from-start",
    severity="error",
    summary="A flow with context slots takes a selection from its own inputs instead of from the slot's FlowNode.",
    fix="Feed the consumer from the FlowNode that selects for the slot and drop the input.",
    source="Cinatra, conformance test of flows with context slots",
    needs="cinatra",
    bad=(
        "source_node: {$component_ref: start}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: write}\n"
        "destination_input: contextSlotBindings"
    ),
    good=(
        "source_node: {$component_ref: context_brand}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: write}\n"
        "destination_input: contextSlotBindings"
    ),
)
def context_bindings_from_start(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        names = _own_names(found)
        for edge in found.flow.data_edges:
            if edge.source == found.flow.start and _is_forbidden(found, edge, names):
                report(
                    f"the flow declares context slots, but {edge.target[:80]}.{edge.input[:80]} "
                    f"comes from its own input {edge.output[:80]}",
                    edge.place,
                    hint="feed it from the FlowNode that selects for the slot",
                )


def _own_names(found: SlotFlow) -> set[str]:
    """Names of the selections that the flow makes itself; the plain ones may be its parent's."""
    own = {slot.binding_names[1] for slot in found.slots if not slot.from_parent}
    return own if any(slot.from_parent for slot in found.slots) else own | {BINDINGS, REFS}


def _is_forbidden(found: SlotFlow, edge: DataEdge, names: set[str]) -> bool:
    if isinstance(found.flow.by_id.get(edge.target), EndNode):
        return edge.output == REFS == edge.input and REFS in names
    names = names - {REFS}
    return edge.output in names and edge.input in names

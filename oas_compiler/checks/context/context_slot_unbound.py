"""The selection for a context slot reaches a node that uses it.

    context_brand without an edge into write.contextSlotBindings      ->  OAS156 at the FlowNode
    context_brand.contextSlotBindings → write.contextSlotBindings

A template that only names the selection is OAS157; a consumer with a required input without an edge
is OAS063.
"""

from __future__ import annotations

from oas_compiler.checks.context.context_slot_prompt_only import prompt_references
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import BINDINGS, SlotFlow
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, StartNode


@rule(
    code="OAS156",
    name="context-slot-unbound",
    severity="error",
    summary="No data edge carries the selection of a context slot into a consumer's contextSlotBindings.",
    fix="Add a data edge from the FlowNode's contextSlotBindings (or contextRefs) into the input contextSlotBindings of the node that uses it.",
    source="context slots, adoption checklist 8: data edge out",
    needs="cinatra",
    bad=(
        "# no data edge out of context_brand\n"
        "source_node: {$component_ref: start}\n"
        "source_output: topic\n"
        "destination_node: {$component_ref: write}\n"
        "destination_input: topic"
    ),
    good=(
        "source_node: {$component_ref: context_brand}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: write}\n"
        "destination_input: contextSlotBindings"
    ),
)
def context_slot_unbound(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        if not found.is_whole:
            continue
        named = prompt_references(subject, found)
        hungry = _find_unfed_inputs(found)
        for slot in found.slots:
            if slot.node is None or slot.bindings or slot.node.id in named:
                continue
            if not hungry.isdisjoint(slot.binding_names):
                continue
            own = slot.binding_names[1]
            report(
                f'what "{slot.node.id[:90]}" selects for the context slot "{slot.id[:80]}" '
                "reaches no consumer",
                slot.node.place,
                hint=f"add a data edge into the input {BINDINGS} or {own[:110]} of the node that uses it",
            )


def _find_unfed_inputs(found: SlotFlow) -> frozenset[str]:
    """Inputs for a selection that have neither an edge nor a default: where a missing edge ends."""
    flow = found.flow
    names = {name for slot in found.slots for name in slot.binding_names}
    return frozenset(
        port.title
        for node in flow.nodes
        if not isinstance(node, (StartNode, EndNode))
        for port in node.inputs
        if port.default is None
        and port.title in names
        and all(edge.input != port.title for edge in flow.data_edges_into(node.id))
    )

"""The purpose of a selecting FlowNode names a slot that the flow declares.

    "purpose": "author-placed-context-resolution-for-brnad"     ->  OAS164 (warning), did you mean "brand"?
    "purpose": "author-placed-context-resolution-for-brand"

The loader looks for this mark to know that a slot is wired already.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import SlotFlow, marked_slot
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowNode

_MOST_NAMED = 3


@rule(
    code="OAS164",
    name="context-marker-unknown",
    severity="warning",
    summary="The purpose of a FlowNode names a context slot that the flow does not declare.",
    fix="Name the slot as contextSlots does.",
    source="Cinatra, context slots: markers",
    needs="cinatra",
    bad='"purpose": "author-placed-context-resolution-for-brnad"',
    good='"purpose": "author-placed-context-resolution-for-brand"',
)
def context_marker_unknown(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        declared = {slot.id for slot in found.slots}
        # a slot that this node was meant for has OAS154
        astray = {slot.astray.id for slot in found.slots if slot.astray is not None}
        for node in found.flow.nodes:
            slot_id = marked_slot(node) if isinstance(node, FlowNode) else ""
            if slot_id and slot_id not in declared and node.id not in astray:
                report(
                    f'the purpose of "{node.id[:90]}" names the context slot "{slot_id[:80]}", '
                    "which this flow does not declare",
                    subject.place(f"{node.place.pointer}/metadata/cinatra/purpose"),
                    hint=report.nearest(slot_id, declared) or _list_declared_slots(found),
                )


def _list_declared_slots(found: SlotFlow) -> str:
    names = ", ".join(f'"{slot.id[:80]}"' for slot in found.slots[:_MOST_NAMED])
    return f"declared here: {names}{', …' if len(found.slots) > _MOST_NAMED else ''}"

"""Every context slot has a FlowNode that selects for it: no slot is wired automatically.

"contextSlots": [{"slotId": "brand", …}], no FlowNode that calls /api/context-resolve   ->  OAS154
a FlowNode "context_brand" whose subflow has an ApiNode on {{CINATRA_BASE_URL}}/api/context-resolve

Where the parent fills the slot by agreement (`parentSatisfiedContextSlots`), the child needs none.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import MARKERS, RESOLVE, Slot, SlotFlow
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS154",
    name="context-slot-unresolved",
    severity="error",
    summary="A context slot is declared and no FlowNode selects anything for it.",
    fix="Run oasflow wire-context: it adds a FlowNode context_<slotId> whose subflow calls /api/context-resolve.",
    source="context slots, adoption checklist 8",
    needs="cinatra",
    bad=(
        "contextSlots: [{slotId: brand}]\n"
        "nodes: [{$component_ref: start}, {$component_ref: write}, {$component_ref: end}]"
    ),
    good=(
        "contextSlots: [{slotId: brand}]\n"
        "nodes: [{$component_ref: start}, {$component_ref: context_brand}, {$component_ref: write}, {$component_ref: end}]"
    ),
)
def context_slot_unresolved(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        for slot in found.slots:
            if slot.node is not None or slot.from_parent or not found.is_whole:
                continue
            if slot.pretender is not None:
                if slot.pretender.subflow.gaps:  # what is missing there is a finding already
                    continue
                report(
                    f'"{slot.pretender.id[:90]}" is to select for the context slot '
                    f'"{slot.id[:80]}", but its subflow does not call {RESOLVE}',
                    slot.pretender.place,
                    hint=f'its subflow needs an ApiNode on "{{{{CINATRA_BASE_URL}}}}{RESOLVE}"',
                )
            elif slot.astray is not None:
                report(
                    f'nothing selects for the context slot "{slot.id[:80]}": '
                    f'"{slot.astray.id[:90]}" selects for another one by its purpose, id or slotId',
                    subject.place(slot.pointer),
                    hint=f'name "{slot.id[:80]}" in all three, or declare the slot that they name',
                )
            else:
                report(
                    f'nothing selects for the context slot "{slot.id[:80]}": no FlowNode of '
                    f"this flow calls {RESOLVE} for it",
                    subject.place(slot.pointer),
                    hint=_next_step(found, slot),
                )


def _next_step(found: SlotFlow, slot: Slot) -> str:
    """The advice; a slot without a consumer cannot be wired."""
    name = slot.id[:80]
    if found.consumers(slot):
        return (
            f'oasflow wire-context writes it: a FlowNode "context_{name}" with '
            f'the purpose "{MARKERS[0]}{name}"'
        )
    return (
        f'first give the node that uses it an input "{found.taken_as(slot)[0][:110]}" (type array), '
        f'then run oasflow wire-context, which writes the FlowNode "context_{name}"'
    )

"""Each context slot feeds an input of its own.

    context_brand.contextSlotBindings → write.contextSlotBindings
    context_voice.contextSlotBindings → write.contextSlotBindings      ->  OAS165: one would overwrite the other
    … → write.brandContextSlotBindings, … → write.voiceContextSlotBindings

The plain name stands for the only slot of a flow; with several each has `<slotId>ContextSlotBindings`.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import Slot
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS165",
    name="context-slots-share-input",
    severity="error",
    summary="The selections of two context slots go into one input.",
    fix="Give the consumer an input <slotId>ContextSlotBindings for each slot.",
    source="Cinatra, context slots: consumers",
    needs="cinatra",
    bad=(
        "# context_brand feeds write.contextSlotBindings too\n"
        "source_node: {$component_ref: context_voice}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: write}\n"
        "destination_input: contextSlotBindings"
    ),
    good=(
        "source_node: {$component_ref: context_voice}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: write}\n"
        "destination_input: voiceContextSlotBindings"
    ),
)
def context_slots_share_input(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        first: dict[tuple[str, str], Slot] = {}
        for slot in found.slots:
            for edge in slot.bindings:
                other = first.setdefault((edge.target, edge.input), slot)
                if other is not slot:
                    report(
                        f'{edge.target[:80]}.{edge.input[:80]} takes the context slot "{slot.id[:80]}" '
                        f'and "{other.id[:80]}" too: only one of them arrives',
                        edge.place,
                        hint=f'use an input "{slot.binding_names[1][:110]}" and one '
                        f'"{other.binding_names[1][:110]}"',
                    )

"""A consumer of a context slot has one input for it.

"inputs": [{"title": "contextSlotBindings"}, {"title": "brandContextSlotBindings"}]   ->  OAS166
"inputs": [{"title": "brandContextSlotBindings"}]

A host that sees both cannot say where the selection belongs, and refuses the flow.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import BINDINGS
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, StartNode


@rule(
    code="OAS166",
    name="context-slot-both-names",
    severity="error",
    summary="A consumer has both the plain input for a selection and the one that names the slot.",
    fix="Keep contextSlotBindings in a flow with one slot and <slotId>ContextSlotBindings in one with several.",
    source="Cinatra, context slots: consumers",
    needs="cinatra",
    bad='"inputs": [{"title": "contextSlotBindings"}, {"title": "brandContextSlotBindings"}]',
    good='"inputs": [{"title": "brandContextSlotBindings"}]',
)
def context_slot_both_names(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        own = {slot.binding_names[1] for slot in found.slots}
        for node in found.flow.nodes:
            if isinstance(node, (StartNode, EndNode)):
                continue
            ports = {port.title: port for port in node.inputs}
            both = next((title for title in ports if title in own), "")
            if both and BINDINGS in ports:
                plain_stays = len(found.slots) == 1
                report(
                    f'"{node.id[:80]}" has both {BINDINGS} and {both[:110]}, and takes a '
                    "selection by one of them only",
                    ports[both if plain_stays else BINDINGS].place,
                    hint=f"keep {BINDINGS if plain_stays else both[:110]}",
                )

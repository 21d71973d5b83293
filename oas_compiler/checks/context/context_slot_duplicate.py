"""A flow declares each context slot once.

"contextSlots": [{"slotId": "brand", …}, {"slotId": "brand", …}]     ->  OAS151 at the second
"contextSlots": [{"slotId": "brand", …}, {"slotId": "voice", …}]
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import KEY
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS151",
    name="context-slot-duplicate",
    severity="error",
    summary="Two context slots of a flow have one slotId.",
    fix="Give each slot an id of its own, or remove one of the two.",
    source="context slots, slotId",
    needs="cinatra",
    bad='"contextSlots": [{"slotId": "brand", …}, {"slotId": "brand", …}]',
    good='"contextSlots": [{"slotId": "brand", …}, {"slotId": "voice", …}]',
)
def context_slot_duplicate(subject: Subject, report: Report) -> None:
    for flow in subject.of_type("Flow"):
        slots = flow.cinatra.get(KEY)
        seen: dict[str, int] = {}
        for index, slot in enumerate(slots if isinstance(slots, list) else ()):
            slot_id = slot.get("slotId") if isinstance(slot, dict) else None
            if not isinstance(slot_id, str) or not slot_id:
                continue
            if seen.setdefault(slot_id, index) != index:
                report(
                    f'the slotId "{slot_id[:80]}" is taken by the slot at position {seen[slot_id] + 1}',
                    subject.place(flow.at("metadata", "cinatra", KEY, index, "slotId")),
                    hint="every slot of a flow has an id of its own",
                )

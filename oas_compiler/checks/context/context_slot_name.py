"""The id of a context slot can be part of a name.

"slotId": "brand voice"   ->  OAS152 (warning): "context_brand voice" is no name for a template
"slotId": "brandVoice"
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import KEY
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS152",
    name="context-slot-name",
    severity="warning",
    summary="The id of a context slot cannot be part of a name in a template.",
    fix="Use letters, digits and underscores.",
    source="context slots, slotId: identifier-safe",
    needs="cinatra",
    bad='"slotId": "brand voice"',
    good='"slotId": "brandVoice"',
)
def context_slot_name(subject: Subject, report: Report) -> None:
    for flow in subject.of_type("Flow"):
        slots = flow.cinatra.get(KEY)
        for index, slot in enumerate(slots if isinstance(slots, list) else ()):
            slot_id = slot.get("slotId") if isinstance(slot, dict) else None
            if isinstance(slot_id, str) and slot_id.strip() and not _is_identifier(slot_id):
                report(
                    f'the slotId "{slot_id[:80]}" names the FlowNode and the inputs of its slot, '
                    "and cannot stand in a template",
                    subject.place(flow.at("metadata", "cinatra", KEY, index, "slotId")),
                    hint="use letters, digits and underscores",
                )


def _is_identifier(slot_id: str) -> bool:
    """Whether `context_<slotId>` is a name."""
    return f"_{slot_id}".isidentifier()

"""A selection reaches its consumer by a data edge, not only by a name in a prompt.

"user": "… {{ context_brand.contextRefs }}", no edge from context_brand       ->  OAS157 at the text
"user": "… {{ contextSlotBindings }}", and the edge into write.contextSlotBindings

A plain `{{ contextSlotBindings }}` or `{{ contextRefs }}` is an input of the node like any other: where
it is not declared that is OAS110's finding, where nothing feeds it OAS063's or OAS156's.
"""

from __future__ import annotations

import re

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import BINDINGS, SlotFlow
from oas_compiler.findings.rule import Report, rule

_MEMBER_OF = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*[.\[]")


@rule(
    code="OAS157",
    name="context-slot-prompt-only",
    severity="error",
    summary="A template names the selection of a context slot and no data edge carries it there.",
    fix="Add the data edge into the node's contextSlotBindings and name that input in the template; a plain {{ contextRefs }} without an edge is an input that nothing feeds (OAS063, OAS156).",
    source="context slots: the data edge is the binding contract",
    needs="cinatra",
    bad='"user": "Write for {{ context_brand.contextRefs }}"',
    good='"user": "Write for {{ contextSlotBindings }}"',
)
def context_slot_prompt_only(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        for name, pointers in prompt_references(subject, found).items():
            for pointer in pointers:
                report(
                    f'the template names what "{name[:90]}" selects, but no data edge carries it here',
                    subject.place(pointer),
                    hint=f"add a data edge into the input {BINDINGS} of this node and use "
                    f"{{{{ {BINDINGS} }}}}",
                )


def prompt_references(subject: Subject, found: SlotFlow) -> dict[str, list[str]]:
    """FlowNode of a slot without a binding → pointers of the texts whose templates name it."""
    names = {slot.node.id for slot in found.slots if slot.node is not None and not slot.bindings}
    named: dict[str, list[str]] = {}
    if not names or not found.is_whole:
        return named
    below = f"{found.flow.place.pointer}/"
    for text in subject.texts:
        if "{{" not in text.value or not text.pointer.startswith(below):
            continue
        for name in sorted(names.intersection(_members_named(text.value))):
            named.setdefault(name, []).append(text.pointer)
    return named


def _members_named(template: str) -> set[str]:
    """Names of which a placeholder uses a member: `a` of `{{ a.b }}`."""
    found: set[str] = set()
    at = 0
    while (start := template.find("{{", at)) >= 0:
        stop = template.find("}}", start)
        stop = stop if stop >= 0 else len(template)
        found.update(_MEMBER_OF.findall(template[start:stop]))
        at = stop
    return found

"""Every component that a flow defines is used by it.

"$referenced_components": {"write": …, "write_old": …}, and nothing names "write_old"   ->   OAS241
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.data.ports import REFERENCE
from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import DEFINITIONS, Unread
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_REFERENCES: Final = (
    Unread.UNKNOWN_REFERENCE, Unread.CIRCULAR_REFERENCE, Unread.REFERENCE_NOT_TEXT, Unread.KIND_OF_COMPONENT,
    Unread.KIND_OF_VALUE, Unread.MISSING, Unread.COMPONENT_TYPE,
    Unread.KIND_REFUSED,
)  # fmt: skip
"""Flaws of references, and of what they lead to."""


@rule(
    code="OAS241",
    name="component-unused",
    severity="warning",
    summary="A component is defined under $referenced_components, and nothing refers to it.",
    fix="List it in nodes and connect it, or remove it.",
    source="Agent Spec, component model",
    needs="document",
    bad='"$referenced_components": {"write": {…}, "write_old": {…}}   ("nodes" lists write)',
    good='"$referenced_components": {"write": {…}}',
)
def component_unused(subject: Subject, report: Report) -> None:
    if subject.unread(*_REFERENCES):
        return  # a broken reference may mean one of these components
    used = {text.value for text in subject.texts if text.keys[-1:] == (REFERENCE,)}
    for component in subject.components:
        defined = component.value.get(DEFINITIONS)
        for name, value in defined.items() if isinstance(defined, dict) else ():
            what = _type_of(value)[:80]
            if name not in used and what:
                report(
                    f'the {what} "{name[:80]}" is defined, and nothing refers to it',
                    subject.place(child(component.at(DEFINITIONS), name)),
                    hint="list it in nodes and connect it, or remove it"
                    if what.endswith("Node")
                    else "refer to it, or remove it",
                )


def _type_of(value: JsonValue) -> str:
    """Empty where it is no component."""
    kind = value.get("component_type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""

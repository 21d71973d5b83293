"""A risk class is a text; a value of another type protects nothing.

    "riskClass": ["email_send"]     ->  OAS214
    "riskClass": "email_send"

Also in the entries of `gateSteps`.  `null` counts as a missing key.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

_KEY = "riskClass"


@rule(
    code="OAS214",
    name="risk-class-type",
    severity="error",
    summary="A riskClass is no string, so that it protects nothing.",
    fix="Write one class as a string.",
    source="Cinatra risk classes",
    needs="document",
    bad='"riskClass": ["email_send"]',
    good='"riskClass": "email_send"',
)
def risk_class_type(subject: Subject, report: Report) -> None:
    for component in subject.components:
        for value, pointer in _list_risk_classes(component):
            if value is not None and not isinstance(value, str):
                report(
                    f"the riskClass of {component.label} must be a string, not {describe(value)}",
                    subject.place(pointer),
                    hint=_format_hint(value),
                )


def _list_risk_classes(component: Written) -> Iterator[tuple[JsonValue, str]]:
    """The values of `riskClass` of a component and its `gateSteps`."""
    about = component.cinatra
    if not about:
        return
    yield about.get(_KEY), component.at("metadata", "cinatra", _KEY)
    steps = about.get("gateSteps")
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict) and _KEY in step:
            yield step[_KEY], component.at("metadata", "cinatra", "gateSteps", index, _KEY)


def _format_hint(value: JsonValue) -> str:
    first = value[0] if isinstance(value, list) and len(value) == 1 else None
    word = first if isinstance(first, str) and first.strip() else "email_send"
    return f'write it as one word: "{_KEY}": "{word[:80]}"'

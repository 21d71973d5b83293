"""The only execution provider is "wayflow".

"executionProvider": "langgraph"   ->   OAS172, in the flow and in package.json
"executionProvider": "wayflow"     ->   fine, and so is leaving it out
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject, Text
from oas_compiler.findings.rule import Report, rule

_ONLY = "wayflow"


@rule(
    code="OAS172",
    name="execution-provider",
    severity="error",
    summary='An executionProvider is something else than "wayflow".',
    fix="Remove executionProvider from the file; the host sets it.",
    source="agent guide, rule 2",
    needs="cinatra",
    aliases=("guide-rule-2",),
    bad='"executionProvider": "langgraph"',
    good='"executionProvider": "wayflow"',
)
def execution_provider(subject: Subject, report: Report) -> None:
    for text in filter(_is_other, subject.texts):
        report(_format_message(text.value), subject.place(text.pointer), hint=_HINT)
    for component in subject.components:
        for value, keys in (
            (component.value.get("executionProvider"), ("executionProvider",)),
            (
                component.cinatra.get("executionProvider"),
                ("metadata", "cinatra", "executionProvider"),
            ),
        ):
            if value is not None and not isinstance(value, str):
                report("an executionProvider is no text", subject.place(component.at(*keys)))
    package = subject.agent
    for text in filter(_is_other, subject.manifest_texts if package is not None else ()):
        if package is not None:
            place = package.place(text.pointer)
            report(_format_message(text.value), place, hint=_HINT, file=package.manifest_file)


_HINT = 'leave it out, or write "wayflow": a host refuses everything else'


def _format_message(value: str) -> str:
    return f'the executionProvider is "{value[:80]}", and only "{_ONLY}" exists'


def _is_other(text: Text) -> bool:
    is_provider = text.keys[-1:] == ("executionProvider",)
    # a template is filled in at run time, with whatever
    return is_provider and text.value != _ONLY and "{{" not in text.value

"""A risk class is one of the words that a host knows; any other class protects nothing.

    "riskClass": "email-send"     ->  OAS213 (warning), did you mean "email_send"?
    "riskClass": "email_send"

Known are the words of Cinatra's agents and documents, and every class that ends with `_send`,
`_publish`, `_post` or `_delete`.  Beside `metadata.cinatra` no class is read.  A send under another
spelling is one for OAS200 all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject, Written
from oas_compiler.control.risk_classes import is_known, means_send, meant, nearby
from oas_compiler.findings.rule import Report, rule

_KEY = "riskClass"
_BESIDE = (_KEY, "risk_class", "riskclass", "risk-class")


@rule(
    code="OAS213",
    name="unknown-risk-class",
    severity="warning",
    summary="No host knows the riskClass, so the class protects nothing.",
    fix="Write read_only, write, write_safe, draft_create, draft_update, approval, email_send, send_external_message or another word that ends with _send, _publish, _post or _delete.",
    source="Cinatra risk classes",
    needs="document",
    bad='"riskClass": "email-send"',
    good='"riskClass": "email_send"',
)
def unknown_risk_class(subject: Subject, report: Report) -> None:
    for component in subject.components:
        if (key := _find_misplaced_key(component)) and subject.is_cinatra:
            report(
                f'"{key}" of {component.label} stands beside metadata.cinatra, where no host reads it',
                subject.place(component.at("metadata", key)),
                hint=f'move it: "metadata": {{"cinatra": {{"{_KEY}": …}}}}',
            )
        for risk_class, pointer in _list_risk_classes(component):
            if not is_known(risk_class):
                report(
                    _format_message(component, risk_class),
                    subject.place(pointer),
                    hint=_format_hint(risk_class, report),
                )


def _find_misplaced_key(component: Written) -> str:
    """The key of a risk class in `metadata` itself; empty where there is none, or one in its place."""
    metadata = component.value.get("metadata")
    if not isinstance(metadata, dict) or _KEY in component.cinatra:
        return ""
    return next((key for key in _BESIDE if key in metadata), "")


def _list_risk_classes(component: Written) -> Iterator[tuple[str, str]]:
    """Risk classes that a component gives: its own, and those of its `gateSteps`."""
    about = component.cinatra
    own, steps = about.get(_KEY), about.get("gateSteps")
    if isinstance(own, str) and own.strip():
        yield own, component.at("metadata", "cinatra", _KEY)
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        given = step.get(_KEY) if isinstance(step, dict) else None
        if isinstance(given, str) and given.strip():
            yield given, component.at("metadata", "cinatra", "gateSteps", index, _KEY)


def _format_message(component: Written, risk_class: str) -> str:
    what = f'{component.label} has the unknown riskClass "{risk_class[:80]}"'
    if means_send(risk_class):
        return f"{what}: it may mean a send, and no host takes it for one"
    return f"{what}: no host asks a person because of it"


def _format_hint(risk_class: str, report: Report) -> str:
    word = meant(risk_class)
    if word:
        return f'did you mean "{word}"?'
    return report.nearest(*nearby(risk_class)) or (
        "known are read_only, write, draft_create, approval, email_send and what ends with "
        "_send, _publish, _post or _delete"
    )

"""The value of a placeholder is only put into requests.

    ApiNode "url": "{{CRM_URL}}/people", OutputMessageNode "message": "for {{ region }}"
    OutputMessageNode "message": "for {{REGION}}"      ->  OAS218 (warning), with REGION in `env`

A value of `env` may be a credential, so shown, stored and output texts keep the placeholder's name.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.data.templates.placeholders import ENVIRONMENT_PLACEHOLDER
from oas_compiler.checks.lookup.api_calls import CALLERS
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

_SENT: Final = ("url", "headers", "sensitive_headers", "query_params", "data", "url_allow_list")
"""Members of an ApiNode that make up its request."""


@rule(
    code="OAS218",
    name="placeholder-not-filled",
    severity="warning",
    summary="A placeholder with a value stands where no value is filled in.",
    fix="Keep it in the url, headers, query_params or data of an ApiNode; give what people may see as an input.",
    source="this project",
    needs="document",
    bad='"message": "Sent for {{REGION}}"',
    good='"message": "Sent for {{ region }}"',
)
def placeholder_not_filled(subject: Subject, report: Report) -> None:
    if not subject.env_names:
        return
    requests = frozenset(
        one.at(field) for one in subject.components if one.type in CALLERS for field in _SENT
    )
    for text in subject.texts:
        if "{{" not in text.value or _stands_in(text.pointer, requests):
            continue
        for name in ENVIRONMENT_PLACEHOLDER.findall(text.value):
            if name in subject.env_names:
                report(
                    f"{{{{{name}}}}} stays as it is here: the value of a placeholder gets into "
                    "requests only, because it may be a credential",
                    subject.place(text.pointer),
                    hint="give the flow an input for what people may see",
                )


def _stands_in(pointer: str, requests: frozenset[str]) -> bool:
    while pointer and pointer not in requests:
        pointer = pointer.rpartition("/")[0]
    return pointer in requests

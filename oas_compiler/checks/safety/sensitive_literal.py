"""A sensitive field names its value, and does not have it.

    "sensitive_headers": {"X-Team": "blue-42"}              ->  OAS219 (warning)
    "sensitive_headers": {"X-Team": "{{TEAM}}"}, {"$component_ref": "crm.sensitive_headers"}
    "api_key": {"$component_ref": "gpt.api_key"}

A file is committed, and stored with every run of it.  What OAS204, OAS205 or OAS212 say is not said
again here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oas_compiler.checks.credentials.value_shapes import is_stand_in
from oas_compiler.checks.safety.credential_by_name import is_told
from oas_compiler.checks.safety.literal_credential import safe_name
from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import SENSITIVE_FIELDS
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child


@rule(
    code="OAS219",
    name="sensitive-literal",
    severity="warning",
    summary="A sensitive field of a component has its value written out.",
    fix="Refer to it by a $component_ref, whose value the host lends, or in headers by a placeholder.",
    source="Agent Spec, sensitive fields",
    needs="document",
    conceals=True,
    bad='"sensitive_headers": {"X-Team": "blue-42"}',
    good='"sensitive_headers": {"X-Team": "{{TEAM}}"}',
)
def sensitive_literal(subject: Subject, report: Report) -> None:
    texts = {text.pointer: text for text in subject.texts}
    for component in subject.components:
        for field in component.value.keys() & SENSITIVE_FIELDS:
            for pointer in _list_texts(component.value[field], component.at(field)):
                text = texts.get(pointer)
                if text is None or not _is_literal(text.value) or is_told(text):
                    continue
                own = safe_name(text.keys[-1])
                part = "" if own == field else f' ("{own}")'
                report(
                    f'"{field}"{part} of {component.label} is written out',
                    subject.place(pointer),
                    hint=_suggest(component.id or component.text("name"), field),
                )


def _list_texts(value: JsonValue, pointer: str) -> Iterator[str]:
    """Pointers of the texts of a field: itself, or the members of an object that is no reference."""
    if isinstance(value, str):
        yield pointer
    elif isinstance(value, Mapping) and "$component_ref" not in value:
        for name, member in value.items():
            if isinstance(member, str):
                yield child(pointer, name)


def _is_literal(value: str) -> bool:
    return bool(value.strip()) and "{{" not in value and not is_stand_in(value)


def _suggest(owner: str, field: str) -> str:
    reference = (
        f'refer to it: {{"$component_ref": "{owner[:80]}.{field}"}}, whose value the host lends'
    )
    headers = "; or write {{NAME}} for a value of the host (--env NAME=…)"
    return reference + (headers if field == "sensitive_headers" else "")

r"""A schema is an object, not a text with JSON.

"inputSchema": "{\"type\": \"object\"}"   ->   OAS173
"inputSchema": {"type": "object"}         ->   fine

`inputMessageSchema` of a gate is checked by OAS038; `inputSchema` of the root flow's metadata is a
legacy field with any value.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject, Text
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

SCHEMAS = ("inputSchema", "outputSchema", "formSchema")


@rule(
    code="OAS173",
    name="schema-as-text",
    severity="error",
    summary="A schema is written as a text or a list instead of a JSON object.",
    fix="Write the schema itself, without quotes around it.",
    source="agent guide, rules 3 and 3a",
    needs="cinatra",
    aliases=("guide-rule-3",),
    bad=r'"inputSchema": "{\"type\": \"object\", \"properties\": {}}"',
    good='"inputSchema": {"type": "object", "properties": {}}',
)
def schema_as_text(subject: Subject, report: Report) -> None:
    root = subject.root
    legacy = root.at("metadata", "cinatra") if root is not None else None
    for text in filter(_is_schema, subject.texts):
        if text.pointer.rpartition("/")[0] != legacy:
            report(
                _format_message(text.keys[-1], text.value), subject.place(text.pointer), hint=_HINT
            )
    for component in subject.components:
        if root is not None and component.pointer == root.pointer:
            continue
        for key, value in _no_objects(component.cinatra):
            place = subject.place(component.at("metadata", "cinatra", key))
            report(_format_message(key, value), place, hint=_HINT)
    _look_at_manifest(subject, report)


def _look_at_manifest(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None:
        return
    found: list[tuple[str, JsonValue, str]]
    found = [(t.keys[-1], t.value, t.pointer) for t in filter(_is_schema, subject.manifest_texts)]
    found += [(key, value, f"/cinatra/{key}") for key, value in _no_objects(package.cinatra)]
    for key, value, pointer in found:
        place = package.place(pointer)
        report(_format_message(key, value), place, hint=_HINT, file=package.manifest_file)


_HINT = "a host refuses it: write the JSON object itself"


def _is_schema(text: Text) -> bool:
    # "{{ schema }}" in a request body carries whatever the input holds
    return text.keys[-1:] != () and text.keys[-1] in SCHEMAS and "{{" not in text.value


def _no_objects(about: object) -> Iterator[tuple[str, JsonValue]]:
    """Schemas that are lists, numbers or booleans; texts are found wherever they stand."""
    if isinstance(about, dict):
        for key in SCHEMAS:
            value = about.get(key)
            if value is not None and not isinstance(value, (dict, str)):
                yield key, value


def _format_message(key: str, value: JsonValue) -> str:
    if isinstance(value, str):
        return f"{key} is a text, not a JSON object"
    kind = (
        "a list"
        if isinstance(value, list)
        else "a boolean"
        if isinstance(value, bool)
        else "a number"
    )
    return f"{key} is {kind}, not a JSON object"

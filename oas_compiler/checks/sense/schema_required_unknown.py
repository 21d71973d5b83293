"""The required properties of a schema are among its properties.

    {"properties": {"verdict": …}, "required": ["verdikt"]}                         ->   OAS240
    {"properties": {}, "required": ["note"], "additionalProperties": false}         ->   OAS240
    {"properties": {"verdict": …}, "required": ["note"]}       fine: further members are allowed

An answer would have to bring a member that no form asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_MEMBERS: Final = ("inputMessageSchema", "formSchema")
_MOST: Final = 200
"""Names of one schema that are compared."""


@rule(
    code="OAS240",
    name="schema-required-unknown",
    severity="warning",
    summary="A schema requires a property that it does not have.",
    fix="Name one of the properties, or add the property.",
    source="JSON Schema, draft 2020-12, required",
    needs="document",
    bad='"properties": {"verdict": {"type": "string"}}, "required": ["verdikt"]',
    good='"properties": {"verdict": {"type": "string"}}, "required": ["verdict"]',
)
def schema_required_unknown(subject: Subject, report: Report) -> None:
    for component in subject.components:
        for schema, pointer in schemas_of(component):
            for name, at, meant in _find_unknown_required(schema, pointer):
                report(
                    f'the schema requires "{name[:80]}", which is none of its properties',
                    subject.place(at),
                    hint=meant or "name one of the properties, or add it to them",
                )


def schemas_of(component: Written) -> Iterator[tuple[JsonValue, str]]:
    """The schemas that a component writes, of its gate and of its ports, each with its pointer."""
    for key in _MEMBERS:
        yield component.cinatra.get(key), component.at("metadata", "cinatra", key)
    for key in ("inputs", "outputs"):
        for index, item in enumerate(component.items(key)):
            yield item, component.at(key, index)


def _find_unknown_required(value: JsonValue, pointer: str) -> Iterator[tuple[str, str, str]]:
    """(name, pointer of its entry, hint) at any depth; a document's depth is bounded."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_unknown_required(item, f"{pointer}/{index}")
        return
    if not isinstance(value, dict):
        return
    properties, required = value.get("properties"), value.get("required")
    if isinstance(properties, dict) and isinstance(required, list) and len(required) <= _MOST:
        shut = value.get("additionalProperties") is False
        free = [name for name in properties if name not in required]
        for index, name in enumerate(required):
            if isinstance(name, str) and name not in properties:
                meant = did_you_mean(name, free[:_MOST])
                if (shut and "patternProperties" not in value) or meant:
                    yield name, f"{pointer}/required/{index}", meant
    for key, member in value.items():
        if key not in {"default", "enum", "const", "examples"}:
            yield from _find_unknown_required(member, child(pointer, key))

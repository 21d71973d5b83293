"""A schema of an input, an output or a gate does not contradict itself, and has no misspelt keyword.

    {"type": "integer", "minimum": 9, "maximum": 3}          ->   OAS251: no value fits both
    {"type": "string", "enum": [1, 2]}                       ->   OAS251: none of them is a string
    {"enum": ["staff", "all"], "default": "stuff"}           ->   OAS251 did you mean "staff"?
    {"type": "object", "propertys": {…}}                     ->   OAS251 did you mean "properties"?
    {"type": "array", "json_schema": {"type": "object"}}     ->   OAS251: two types
    {"type": "string", "pattern": "/^a$/i"}                  ->   OAS251: write "^a$"
    {"type": ["string", "string"]}, {"enum": []}             ->   OAS251
    {"verdict": {"type": "string"}}, of a gate               ->   OAS251: write it under "properties"

A form made of such a schema cannot be filled in, or asks for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from cinatra_sdk.text.spelling import LONGEST_COMPARED, is_slip_of_short
from oas_compiler.checks.flaws import Flaw, misspelt, tell
from oas_compiler.checks.sense.schema_required_unknown import schemas_of
from oas_compiler.checks.sense.schema_values import PAIRS, contradictions, kinds
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rules import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose members are schemas under names of the author's."""
_IN_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_ALONE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "json_schema")
_KEYWORDS: Final = frozenset(
    {
        *_BY_NAME, *_IN_LISTS, *_ALONE, *(name for pair in PAIRS for name in pair),
        "type", "title", "description", "default", "enum", "const", "format", "pattern",
        "required", "examples", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "uniqueItems", "readOnly", "writeOnly", "deprecated", "contains", "propertyNames",
    }
)  # fmt: skip
_REPEATING: Final = ("Flow", "StartNode", "EndNode")
"""Components that declare the ports of the flow, each again."""
_CUTOFF: Final = 0.8
_SHORTEST: Final = 4
"""Characters of a keyword that is compared by likeness; a shorter one must have its value, too."""
_MOST: Final = 200
"""Members of one schema that are compared."""


@rule(
    code="OAS251",
    name="schema-contradiction",
    severity="warning",
    summary="A schema contradicts itself, or has a misspelt keyword.",
    fix="Make its parts agree: no value fits them as they are.",
    source="JSON Schema, draft 2020-12",
    needs="document",
    fixable=True,
    bad='{"type": "integer", "minimum": 9, "maximum": 3}',
    good='{"type": "integer", "minimum": 3, "maximum": 9}',
)
def schema_contradiction(subject: Subject, report: Report) -> None:
    repeated: set[tuple[str, str]] = set()
    for component in subject.components:
        for schema, pointer in schemas_of(component):
            if component.type in _REPEATING and isinstance(schema, dict):
                key = (component.flow, json.dumps(schema, sort_keys=True))
                if key in repeated:
                    continue  # told where the flow declares it
                repeated.add(key)
            is_port = pointer.startswith((component.at("inputs"), component.at("outputs")))
            if not is_port and (flaw := _bare_properties(schema, pointer)):
                tell(report, flaw, subject.place)
                continue
            for flaw in _find_schema_flaws(schema, pointer, is_port=is_port):
                tell(report, flaw, subject.place)


def _find_schema_flaws(schema: JsonValue, pointer: str, *, is_port: bool) -> Iterator[Flaw]:
    """The flaws of a schema and its subschemas; a document's depth is bounded."""
    if not isinstance(schema, dict):
        return
    yield from contradictions(schema, pointer, is_port=is_port)
    if not is_port:  # of an input or output OAS245 says so
        yield from _find_misspelt_keywords(schema, pointer)
    inner = schema.get("json_schema")
    if is_port and isinstance(inner, dict) and _other_type(schema, inner):
        yield Flaw(
            f'the type is "{schema["type"]}", and "{inner["type"]}" in json_schema',
            f"{pointer}/json_schema/type",
            f'write "{schema["type"]}", or leave the inner type out',
        )
    for member, at in _list_subschemas(schema, pointer):
        yield from _find_schema_flaws(member, at, is_port=False)


def _bare_properties(schema: JsonValue, pointer: str) -> Flaw | None:
    """A form whose fields are written where its keywords belong."""
    if not isinstance(schema, dict) or not schema:
        return None
    if all(
        name not in _KEYWORDS
        and not name.startswith(("x-", "$"))
        and isinstance(member, dict)
        and kinds(member.get("type"))
        for name, member in schema.items()
    ):
        says = "the schema has fields and no keyword, so that it asks for nothing"
        return Flaw(says, pointer, 'write {"type": "object", "properties": {…}} around them')
    return None


def _list_subschemas(schema: dict[str, JsonValue], pointer: str) -> Iterator[tuple[JsonValue, str]]:
    for keyword in _ALONE:
        yield schema.get(keyword), f"{pointer}/{keyword}"
    for keyword in _IN_LISTS:
        parts = schema.get(keyword)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            yield part, f"{pointer}/{keyword}/{index}"
    for keyword in _BY_NAME:
        named = schema.get(keyword)
        for name, part in named.items() if isinstance(named, dict) else ():
            yield part, child(f"{pointer}/{keyword}", name)


def _find_misspelt_keywords(schema: dict[str, JsonValue], pointer: str) -> Iterator[Flaw]:
    absent = sorted(_KEYWORDS - schema.keys() - {"json_schema", "if", "not", "then", "else"})
    for key in list(schema)[:_MOST]:
        if key in _KEYWORDS or key.startswith(("$", "x-")) or not 3 <= len(key) <= LONGEST_COMPARED:
            continue
        near = [name for name in absent if name.lower() == key.lower()]
        near = near or [name for name in ("type", "enum") if _is_short(key, name, schema)]
        if not near and len(key) >= _SHORTEST:
            near = get_close_matches(key, absent, n=1, cutoff=_CUTOFF)
        if near:
            says = f'"{key[:80]}" is no keyword of a schema'
            yield misspelt(says, child(pointer, key), near[0])


def _is_short(key: str, keyword: str, schema: Mapping[str, JsonValue]) -> bool:
    """Whether a short key is a slip of a keyword that is not there, and has a value of its kind."""
    value = schema[key]
    fits = isinstance(value, list) if keyword == "enum" else bool(kinds(value))
    return fits and keyword not in schema and is_slip_of_short(key, keyword)


def _other_type(outer: Mapping[str, JsonValue], inner: Mapping[str, JsonValue]) -> bool:
    one, other = outer.get("type"), inner.get("type")
    return isinstance(one, str) and isinstance(other, str) and one != other

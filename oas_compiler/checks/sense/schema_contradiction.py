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
from typing import Final, TypeGuard

from cinatra_sdk.data.text.message_words import (
    LONGEST_COMPARED,
    did_you_mean,
    is_slip_of_short,
    plain,
)
from oas_compiler.checks.lookup.value_flaws import Flaw, misspelt, tell
from oas_compiler.checks.sense.pattern_in_slashes import between_slashes
from oas_compiler.checks.sense.schema_required_unknown import schemas_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

# ----------------------------------------------------------------------------
# Contradictions within one schema, without its subschemas.  Not a rule itself.
#
# {"minimum": 9, "maximum": 3}                       no value fits both
# {"enum": ["a", "b"], "const": "c"}                 no value fits both
# {"type": "string", "default": 3}                   another kind than the schema's
# {"type": "string", "properties": {…}}              no string has properties
# {"format": "e-mail"}                               email


PAIRS: Final = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_OPEN_PAIRS: Final = (
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
"""Bounds of which at least one is no value itself, so that equal ones leave none between them."""
_FORMATS: Final = (
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname",
    "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template",
    "json-pointer", "relative-json-pointer", "regex",
)  # fmt: skip
"""JSON Schema validation, 7.3; others are allowed, and read by nobody."""
_SURE: Final = 0.9
_MOST: Final = 200
"""Members of one schema that are compared."""


def contradictions(
    schema: Mapping[str, JsonValue], pointer: str, *, is_port: bool
) -> Iterator[Flaw]:
    """All contradictions of a schema alone; `is_port`: it describes an input or an output."""
    yield from _check_bounds(schema, pointer)
    yield from _check_enum(schema, pointer, is_port=is_port)
    yield from _check_type_list(schema.get("type"), f"{pointer}/type")
    yield from _check_pattern(schema.get("pattern"), f"{pointer}/pattern")
    yield from _check_format_name(schema.get("format"), f"{pointer}/format")
    yield from _check_properties(schema, pointer)
    if is_port:
        yield from _check_required_flag(schema.get("required"), f"{pointer}/required")
    elif "enum" not in schema:  # a value of a port is cast
        yield from _check_default(schema, f"{pointer}/default")


def kinds(kind: JsonValue) -> tuple[type, ...]:
    """Types of Python that a schema's `type` stands for; empty where that is not known."""
    names = kind if isinstance(kind, list) else [kind]
    if not all(isinstance(name, str) and name in _KINDS for name in names):
        return ()
    return tuple(one for name in names for one in _KINDS[str(name)])


def _check_bounds(schema: Mapping[str, JsonValue], pointer: str) -> Iterator[Flaw]:
    for low, high in PAIRS:
        least, most = schema.get(low), schema.get(high)
        if _is_number(least) and _is_number(most) and least > most:
            yield Flaw(
                f"{low} is {least} and {high} is {most}: no value fits both",
                f"{pointer}/{low}",
                f"write a {low} that is not above {high}",
            )
    for low, high in _OPEN_PAIRS:
        least, most = schema.get(low), schema.get(high)
        if _is_number(least) and _is_number(most) and least >= most:
            yield Flaw(
                f"{low} is {least} and {high} is {most}: no value fits both",
                f"{pointer}/{low}",
                f"write a {low} that is below {high}",
            )


def _check_enum(schema: Mapping[str, JsonValue], pointer: str, *, is_port: bool) -> Iterator[Flaw]:
    known = schema.get("enum")
    if known is None:
        return
    if not isinstance(known, list):
        if is_port:  # of a gate OAS093 says so
            yield Flaw(
                f"enum must be a list, not {describe(known)}",
                f"{pointer}/enum",
                'write ["…", "…"]',
            )
        return
    if not known:
        yield Flaw("enum lists no value, so that none fits", f"{pointer}/enum", "add the values")
        return
    allowed = kinds(schema.get("type"))
    if allowed and not any(_is_of(value, allowed) for value in known[:_MOST]):
        yield Flaw(
            f"none of the values of enum is of the type {_format_json(schema['type'])}",
            f"{pointer}/enum",
            "make the type and the values agree",
        )
        return
    yield from _find_repeated_values(known, f"{pointer}/enum")
    yield from _find_unlisted_values(schema, known, pointer)


def _find_repeated_values(known: list[JsonValue], at: str) -> Iterator[Flaw]:
    seen: set[str] = set()
    for index, value in enumerate(known[:_MOST]):
        if isinstance(value, str) and value in seen:
            yield Flaw(
                f"enum lists {_format_json(value)} twice", f"{at}/{index}", "remove one of the two"
            )
        elif isinstance(value, str):
            seen.add(value)


def _find_unlisted_values(
    schema: Mapping[str, JsonValue], known: list[JsonValue], pointer: str
) -> Iterator[Flaw]:
    """A const and a default that enum does not list."""
    const = schema.get("const")
    if const is not None and const not in known:
        hint = "write one of the values of enum, or leave enum out"
        yield Flaw("no value of enum is the const", f"{pointer}/const", hint)
    default = schema.get("default")
    if default is not None and default != "" and default not in known:
        shown = f'"{default[:80]}"' if isinstance(default, str) else describe(default)
        words = [word for word in known[:_MOST] if isinstance(word, str)]
        yield Flaw(
            f"the default is {shown}, which enum does not list",
            f"{pointer}/default",
            (did_you_mean(default, words) if isinstance(default, str) else "")
            or "write one of the values, or add it to them",
        )


def _check_type_list(kind: JsonValue, at: str) -> Iterator[Flaw]:
    """A list of types has some, and each once (JSON Schema validation, 6.1.1)."""
    if kind == []:
        yield Flaw("type is an empty list", at, 'write a type, as in ["string", "null"]')
    names = kind[:_MOST] if isinstance(kind, list) else []
    for index, name in enumerate(names):
        if isinstance(name, str) and name in names[:index]:
            says = f"type lists {_format_json(name)} twice"
            yield Flaw(says, f"{at}/{index}", "remove one of the two")


def _check_pattern(pattern: JsonValue, at: str) -> Iterator[Flaw]:
    found = between_slashes(pattern) if isinstance(pattern, str) else None
    if found:
        says = "the pattern stands between slashes, and wants them in the value"
        flags = ": a schema has no flags" if found[1] else ""
        yield Flaw(says, at, f'write "{found[0]}"{flags}')


def _check_format_name(name: JsonValue, at: str) -> Iterator[Flaw]:
    if not isinstance(name, str) or name in _FORMATS or len(name) > LONGEST_COMPARED:
        return
    near = [known for known in _FORMATS if plain(known) == plain(name)]
    near = near or get_close_matches(name, _FORMATS, n=1, cutoff=_SURE)
    if near:
        yield Flaw(f'"{name}" is no format of JSON Schema', at, f'did you mean "{near[0]}"?')


def _check_properties(schema: Mapping[str, JsonValue], pointer: str) -> Iterator[Flaw]:
    """Properties of what is no object."""
    allowed = kinds(schema.get("type"))
    if schema.get("properties") and allowed and dict not in allowed:
        yield Flaw(
            f"properties are written, and the type is {_format_json(schema['type'])}, which has none",
            f"{pointer}/properties",
            'write "type": "object", or put the properties into "items" of an array',
        )


def _check_required_flag(required: JsonValue, at: str) -> Iterator[Flaw]:
    if isinstance(required, bool):
        says = f"required is {describe(required)}, and nobody reads it there"
        yield Flaw(says, at, "name the input in metadata.cinatra.required of the StartNode")


def _check_default(schema: Mapping[str, JsonValue], at: str) -> Iterator[Flaw]:
    default = schema.get("default")
    allowed = kinds(schema.get("type"))
    if default is None or default == "" or not allowed or _is_of(default, allowed):
        return
    says = f"the default is {describe(default)}, and the type is {_format_json(schema['type'])}"
    yield Flaw(says, at, "make the type and the default agree")


def _format_json(value: JsonValue) -> str:
    """A value of the schema as it stands there."""
    return json.dumps(value, ensure_ascii=False)


def _is_of(value: JsonValue, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)


def _is_number(value: JsonValue) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


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

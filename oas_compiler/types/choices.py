"""The values that a schema allows by name: `enum` and `const`, compared between two ports.

    {"enum": ["green", "blue"]}  and  {"enum": ["red", "white"]}    ->  no value in common
    {"const": 1}                 and  {"type": "string", "enum": ["1"]}    ->  the text "1"

In: the schemas of an output and an input.  Out: whether some value of the one is, as it is or
cast, a value of the other; a schema that names no values meets every other.
"""

from __future__ import annotations

import json
from typing import Final, TypeAlias

from oas_compiler.ir import Json, JsonValue
from oas_compiler.types.local_refs import definition, is_local

_MOST_REFERENCES: Final = 20
"""References that lead to references, followed for one schema."""
_MOST_LISTS: Final = 64
"""Lists of lists whose elements are compared."""


Choices: TypeAlias = "tuple[frozenset[str] | None, ...]"
"""Allowed values, in all their spellings, of a schema, of its elements, of their elements, …;
`None` where no values are named."""


def choices_of(schema: Json) -> Choices:
    """What a schema allows by name; empty for most."""
    # most schemas name no values, and decoding them would cost more than looking
    if '"enum"' not in schema.text and '"const"' not in schema.text:
        return ()
    root = schema.value()
    current, levels = root, []
    # a list of itself goes on for ever
    for _ in range(_MOST_LISTS):
        current = _resolve_reference(current, root)
        if not isinstance(current, dict):
            break
        levels.append(_read_enum_spellings(current))
        current = current.get("items")
    return tuple(levels)


def choices_meet(source: Choices, target: Choices) -> bool:
    """Whether the two have an allowed value in common, also in their elements."""
    return not any(
        gives is not None and takes is not None and gives.isdisjoint(takes)
        for gives, takes in zip(source, target, strict=False)
    )


def _resolve_reference(schema: JsonValue, root: JsonValue) -> JsonValue:
    """The definition that a schema stands for; a chain that is too long stands for anything."""
    for _ in range(_MOST_REFERENCES):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not is_local(reference):
            return schema
        schema = definition(root, reference)
    return None


def _read_enum_spellings(schema: dict[str, JsonValue]) -> frozenset[str] | None:
    named: list[JsonValue] = []
    if "const" in schema:
        named = [schema["const"]]
    elif isinstance(given := schema.get("enum"), list):
        named = given
    return frozenset(spelling for value in named for spelling in _list_spellings(value)) or None


def _list_spellings(value: JsonValue) -> tuple[str, ...]:
    """The texts that a value has when it is cast: `true` is 1 and "true", 2.0 is 2."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bool):
        return (json.dumps(value), str(int(value)))
    if isinstance(value, float) and value.is_integer():
        return (json.dumps(value), str(int(value)))
    if value is None:
        return ("null", "")
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")),)

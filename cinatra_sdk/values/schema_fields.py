"""What a JSON Schema says of the fields that a person fills in.

In: a JSON Schema.  Out: its parts, its choices, and whether it takes any text.

    properties_of({"properties": {"site": {"type": "string"}}})   ->  {"site": {"type": "string"}}
    choices({"enum": ["send", "continue"]})                       ->  ["send", "continue"]
    takes_text({"type": "string"})                                ->  True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = "Mapping[str, Any]"


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """The parts of an object that a schema describes; empty for anything else."""
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {name: part if isinstance(part, Mapping) else {} for name, part in found.items()}


def choices(schema: Schema) -> list[Any]:
    """The values to choose from; empty where anything goes."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return list(listed) if isinstance(listed, list) else []


def list_choices(schema: Schema) -> list[Any]:
    """As `choices`, also where each is a schema of its own, with a title for people."""
    for word in ("oneOf", "anyOf"):
        parts = schema.get(word)
        if isinstance(parts, list) and parts and not choices(schema):
            own = [choices(part) if isinstance(part, Mapping) else [] for part in parts]
            return [one for listed in own for one in listed] if all(own) else []
    return choices(schema)


def read_type(schema: Schema) -> str:
    """The single type of the field; empty where the schema names no type or several."""
    named = schema.get("type")
    return named if isinstance(named, str) else ""


def takes_text(schema: Schema) -> bool:
    """Whether any text is a value of `schema`, as far as its type says."""
    return read_type(schema) == "string" and not choices(schema)

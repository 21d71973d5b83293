"""JSON Schemas of a flow's parameters and results, from its ports; the fields of a schema for a person.

describe_inputs(ports, required=["topic"], …)
    ->  {"type": "object", "properties": {"topic": {"type": "string", …}}, "required": ["topic"]}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from cinatra_sdk.data.author_json import JsonValue
from cinatra_sdk.data.ports import TypedPort


def describe_inputs(
    ports: Sequence[TypedPort],
    *,
    required: Sequence[str],
    hidden: Collection[str],
    renderers: Mapping[str, str],
    sources: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """A hidden input is marked `x-hidden: true`; sources: input → where a host finds its values."""
    properties: dict[str, JsonValue] = {}
    for port in ports:
        schema = describe_port(port)
        if port.title in renderers:
            schema["x-renderer"] = renderers[port.title]
        if port.title in sources:
            schema["x-data-source"] = sources[port.title]
        if port.title in hidden:
            schema["x-hidden"] = True
        properties[port.title] = schema
    return {"type": "object", "properties": properties, "required": list(required)}


def describe_outputs(ports: Sequence[TypedPort]) -> dict[str, JsonValue]:
    """Every output is there when a run completes."""
    return {
        "type": "object",
        "properties": {port.title: describe_port(port) for port in ports},
        "required": [port.title for port in ports],
    }


def describe_port(port: TypedPort) -> dict[str, JsonValue]:
    schema = port.schema.mapping()
    schema.setdefault("title", port.title)
    if port.default is not None:
        schema["default"] = port.default.value()
    return schema


# ----------------------------------------------------------------------------
# What a JSON Schema says of the fields that a person fills in.
#
# In: a JSON Schema.  Out: its parts, its choices, and whether it takes any text.
#
#     properties_of({"properties": {"site": {"type": "string"}}})   ->  {"site": {"type": "string"}}
#     choices({"enum": ["send", "continue"]})                       ->  ["send", "continue"]
#     takes_text({"type": "string"})                                ->  True


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

"""The JSON Schema of an answer, made from the outputs that a node declares.

derive_output_schema({"draft": {"type": "string"}})
    ->  {"type": "object", "properties": {"draft": {"title": "draft", "type": "string"}},
         "required": ["draft"], "additionalProperties": False}

Source: what newer loaders of Cinatra send to the bridge where the author wrote no `output_schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue


def derive_output_schema(
    outputs: Mapping[str, Mapping[str, JsonValue]],
) -> dict[str, JsonValue]:
    """The schema; empty where there are no outputs, or one has no type.

    Every object with properties, at any depth, requires all its properties and refuses others.
    """
    if not outputs or any("type" not in schema or not title for title, schema in outputs.items()):
        return {}
    named = {title: {"title": title, **schema} for title, schema in outputs.items()}
    return close_schema({"type": "object", "properties": named})


def close_schema(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The schema, closed; the same again changes nothing."""
    closed = {key: value for key, value in schema.items() if key != "default"}
    if isinstance(closed.get("properties"), Mapping):
        closed["properties"] = {
            title: close_schema(part) if isinstance(part, Mapping) else part
            for title, part in closed["properties"].items()
        }
        closed["required"] = list(closed["properties"])
        closed["additionalProperties"] = False
    for key in ("items", "additionalProperties"):
        if isinstance(closed.get(key), Mapping):
            closed[key] = close_schema(closed[key])
    # Not allOf: of two closed members each refuses the properties of the other.
    for key in ("anyOf", "oneOf"):
        if isinstance(closed.get(key), list):
            closed[key] = [
                close_schema(part) if isinstance(part, Mapping) else part for part in closed[key]
            ]
    return closed

"""JSON Schemas of a flow's parameters and results, from its ports.

describe_inputs(ports, required=["topic"], …)
    ->  {"type": "object", "properties": {"topic": {"type": "string", …}}, "required": ["topic"]}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cinatra_sdk.values.json_text import JsonValue
from cinatra_sdk.values.ports import TypedPort


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

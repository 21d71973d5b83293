"""JSON Schemas of a flow's parameters and results (Cinatra's compile rule 6).

input_schema(flow)  -> {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}
"""

from __future__ import annotations

from oas_compiler.ir import FlowIR, JsonValue, Port


def input_schema(flow: FlowIR) -> dict[str, JsonValue]:
    """Properties from the StartNode; a hidden input is marked `x-hidden: true`."""
    start = flow.start_node()
    renderers = dict(start.renderers)
    properties: dict[str, JsonValue] = {}
    for port in start.inputs:
        schema = _described(port)
        if port.title in renderers:
            schema["x-renderer"] = renderers[port.title]
        if port.title in start.hidden:
            schema["x-hidden"] = True
        properties[port.title] = schema
    return {"type": "object", "properties": properties, "required": list(start.required)}


def output_schema(flow: FlowIR) -> dict[str, JsonValue]:
    """Properties from the flow's declared outputs; every one is there when a run completes."""
    properties: dict[str, JsonValue] = {port.title: _described(port) for port in flow.outputs}
    return {
        "type": "object",
        "properties": properties,
        "required": [port.title for port in flow.outputs],
    }


def _described(port: Port) -> dict[str, JsonValue]:
    schema = port.schema.mapping()
    schema.setdefault("title", port.title)
    if port.default is not None:
        schema["default"] = port.default.value()
    return schema

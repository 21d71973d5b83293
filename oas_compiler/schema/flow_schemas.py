"""JSON Schemas of a flow's parameters and results (Cinatra's compile rule 6).

input_schema(flow)   -> {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}
output_schema(flow)  -> the flow's declared outputs: the result of a completed run
end_schema(flow)     -> the outputs of the first EndNode: the schema that Cinatra stores
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.data.ports import describe_inputs, describe_outputs, describe_port
from oas_compiler.ir import EndNode, FlowIR, JsonValue

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
"""Names the draft; nothing is fetched from there."""


def input_schema(flow: FlowIR) -> dict[str, JsonValue]:
    """Properties from the StartNode; a hidden input is marked `x-hidden: true`."""
    start = flow.start_node()
    sources = start.cinatra.mapping().get("inputDataSources")
    return describe_inputs(
        start.inputs,
        required=start.required,
        hidden=start.hidden,
        renderers=dict(start.renderers),
        sources=sources if isinstance(sources, dict) else {},
    )


def output_schema(flow: FlowIR) -> dict[str, JsonValue]:
    """Properties from the flow's declared outputs; every one is there when a run completes."""
    return describe_outputs(flow.outputs)


def end_schema(flow: FlowIR) -> dict[str, JsonValue] | None:
    """Properties from the EndNode that comes first, breadth first; `None` when it has no outputs.

    A flow may give less than its EndNode has, and other EndNodes may give something else: what a
    run really gives is `output_schema`.
    """
    end = next((node for node in flow.in_order() if isinstance(node, EndNode)), None)
    if end is None or not end.outputs:
        return None
    return {
        "type": "object",
        "properties": {port.title: describe_port(port) for port in end.outputs},
    }


def schema_document(schema: dict[str, JsonValue], *, title: str) -> dict[str, JsonValue]:
    """The schema as a document of its own: it says which draft it is written in."""
    return {"$schema": DRAFT, "title": title, **schema}

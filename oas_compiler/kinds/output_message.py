"""OutputMessageNode: a message to people.

message: "Draft: {{ draft }}"    ->  one input "draft"
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, none_declared, template_inputs
from oas_compiler.kinds.kind import NodeKind


def build_output_message(site: Site) -> ir.Node:
    return ir.OutputMessageNode(
        **common(site),
        inputs=template_inputs(site),
        outputs=none_declared(site, "outputs"),
        branches=next_only(site),
        message=site.component.text("message"),
    )


OUTPUT_MESSAGE = NodeKind(
    component_type="OutputMessageNode",
    node=ir.OutputMessageNode,
    build=build_output_message,
    words="Says something to the person, or carries what the next gate shows.",
    fields={
        **NODE_FIELDS,
        "message": Field("text", "The text; a template.", required=True, template=True),
    },
    acts=False,
    shape="message",
    caption="message",
    lowering="oas_compiler.lower.plain_nodes:lower_message",
)

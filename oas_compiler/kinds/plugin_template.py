"""PluginTemplateNode: a template rendered to a text.

template: "About {{ topic }}"    ->  one input "topic", one output "output"
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import exactly_one, next_only, template_inputs
from oas_compiler.ir import Port
from oas_compiler.ir.printout import shown
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.port_types import castable


def build_template(site: Site) -> ir.Node:
    outputs = site.declared("outputs")
    output = Port(title="output", type=ir.STRING, place=site.place())
    outputs = exactly_one(site, (output,) if outputs is None else outputs, "outputs", "output")
    for port in outputs:
        if not castable(ir.STRING, port.type):
            site.findings.error(
                "OAS036",
                f"{site.label} renders a string, its output is {shown(port.type)}",
                port.place,
                hint="declare a string: an edge into an input of any type carries it",
            )
    return ir.PluginTemplateNode(
        **common(site),
        inputs=template_inputs(site),
        outputs=outputs,
        branches=next_only(site),
        template=site.component.text("template"),
    )


PLUGIN_TEMPLATE = NodeKind(
    component_type="PluginTemplateNode",
    node=ir.PluginTemplateNode,
    build=build_template,
    words="Renders a template to a text.",
    fields={
        **PLUGIN_FIELDS,
        "template": Field("text", "The Jinja template.", required=True, template=True),
    },
    acts=False,
    caption="template",
    lowering="oas_compiler.lower.plain_nodes:lower_template",
)

"""ToolNode: a Python function of the host.

without ports    ->  the inputs and outputs of its ServerTool
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component.fields import NODE_FIELDS, Field
from oas_compiler.component.inference import next_only, specialised
from oas_compiler.component.metadata import EFFECT_KEYS, NODE_KEYS, cinatra_effect
from oas_compiler.component.site import Site, common
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.unknown import build_unknown


def build_tool(site: Site) -> ir.Node:
    tool = site.behind
    if tool is None:
        return build_unknown(site)
    inputs = site.declared("inputs", tool) or ()
    outputs = site.declared("outputs", tool) or ()
    return ir.ToolNode(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "tool"),
        outputs=specialised(site, "outputs", outputs, "tool"),
        branches=next_only(site),
        tool_name=tool.text("name"),
        effect=cinatra_effect(site),
        behind=site.facts_behind,
    )


TOOL = NodeKind(
    component_type="ToolNode",
    node=ir.ToolNode,
    build=build_tool,
    words="Calls a Python function of the host.",
    fields={**NODE_FIELDS, "tool": Field("component", "The tool that is called.", required=True)},
    behind="tool",
    is_call=True,
    shape="call",
    caption=lambda node: f"tool {node.tool_name}",
    metadata={**NODE_KEYS, **EFFECT_KEYS},
    lowering="oas_compiler.lower.nodes.tool:lower_tool",
)

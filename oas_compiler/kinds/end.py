"""EndNode: where the outputs of a flow leave.

without ports    ->  the outputs that the flow declares
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import checked_branches, same_ports
from oas_compiler.kinds.kind import NodeKind


def build_end(site: Site) -> ir.Node:
    ports = same_ports(site)
    if ports is None:
        ports = site.declared("outputs", site.flow) or ()
    return ir.EndNode(
        **common(site),
        inputs=ports,
        outputs=ports,
        branches=checked_branches(site, ()),
        branch_name=site.component.text("branch_name", "next"),
    )


def _write_caption(node: ir.EndNode) -> str:
    return "end" if node.branch_name in {"", "next"} else f"end: {node.branch_name}"


END = NodeKind(
    component_type="EndNode",
    node=ir.EndNode,
    build=build_end,
    words="Where a flow ends; its outputs are the flow's results.",
    fields={
        **NODE_FIELDS,
        "outputs": Field("list", "The flow's results."),
        "branch_name": Field("text", "The branch by which a FlowNode around this flow is left."),
    },
    acts=False,
    shape="end",
    caption=_write_caption,
    lowering="oas_compiler.lower.plain_nodes:lower_end",
)

"""EndNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.end import make_end
from oas_compiler.ir import EndNode
from oas_compiler.lower.registry import LoweringSite


def lower_end(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, EndNode)
    return make_end(
        site.frame,
        inputs=node.inputs,
        outputs_of_flow=site.flow.outputs,
        branch=node.branch_name,
    )

"""BranchingNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.branching import make_branching
from oas_compiler.ir import BranchingNode
from oas_compiler.lower.registry import LoweringSite


def lower_branching(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, BranchingNode)
    return make_branching(site.frame, title=node.inputs[0].title, mapping=dict(node.mapping))

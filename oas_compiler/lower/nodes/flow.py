"""FlowNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.subflow import make_subflow
from oas_compiler.ir import FlowNode
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.registry import LoweringSite


def lower_flow_node(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, FlowNode)
    return make_subflow(frame, lower_inner(site, node.subflow, frame.path, as_graph=True))

"""FlowNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.subflow import make_subflow
from oas_compiler.ir import FlowNode, InputMessageNode, walk
from oas_compiler.kinds.registry import kind_of
from oas_compiler.lower.graph import lower_flow
from oas_compiler.lower.registry import LoweringSite


def lower_flow_node(site: LoweringSite) -> NodeBody:
    node, frame, wiring = site.node, site.frame, site.wiring
    assert isinstance(node, FlowNode)
    subgraph = lower_flow(node.subflow, wiring, around=frame.path, depth=site.depth + 1).compile(
        name=node.subflow.id
    )
    inside = [inner for _path, inner in walk(node.subflow)]
    return make_subflow(
        frame,
        subgraph,
        digest=wiring.digest,
        acts=any(kind_of(inner).acts for inner in inside),
        asks=any(isinstance(inner, InputMessageNode) for inner in inside),
    )

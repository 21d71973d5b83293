"""ParallelFlowNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.parallel import make_parallel_flows
from oas_compiler.ir import ParallelFlowNode, open_flows
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.registry import LoweringSite


def lower_parallel_flow(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, ParallelFlowNode)
    flows = [
        (
            lower_inner(site, flow, around, as_graph=False),
            tuple(port.title for port in flow.inputs),
        )
        for around, flow in open_flows(node, frame.path)
    ]
    return make_parallel_flows(frame, flows, at_once=site.wiring.max_parallel)

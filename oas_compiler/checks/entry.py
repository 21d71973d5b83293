"""A flow begins at its one StartNode and ends at an EndNode.

    no StartNode, two of them, or start_node elsewhere   ->   OAS040, OAS050
    no EndNode                                           ->   OAS041
    an edge into the StartNode / out of an EndNode       ->   OAS046 / OAS047

Source of the rules: Agent Spec, control flow.
"""

from __future__ import annotations

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import EndNode, FlowIR, StartNode


def entry(flow: FlowIR, findings: Diagnostics) -> None:
    starts = [node for node in flow.nodes if isinstance(node, StartNode)]
    ends = {node.id for node in flow.nodes if isinstance(node, EndNode)}
    if len(starts) != 1:
        place = starts[1].place if starts else flow.place
        findings.error(
            "OAS040",
            f'the flow "{flow.id}" has {len(starts)} StartNodes in its nodes, it needs one',
            place,
        )
    if flow.start and flow.start not in {start.id for start in starts}:
        findings.error(
            "OAS050",
            f'start_node of the flow "{flow.id}" is "{flow.start}", which is not a StartNode '
            "of its nodes",
            flow.place,
        )
    if not ends:
        findings.error("OAS041", f'the flow "{flow.id}" has no EndNode', flow.place)
    start_ids = {start.id for start in starts}
    for route in flow.routes:
        if route.target in start_ids:
            findings.error("OAS046", "a control edge leads into the StartNode", route.place)
        if route.source in ends:
            findings.error(
                "OAS047", f'a control edge leaves the EndNode "{route.source}"', route.place
            )

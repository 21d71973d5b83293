"""A run is over at an EndNode.

an edge with "from_node": end   ->   OAS047
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Turned, part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode


@rule(
    code="OAS047",
    name="no-edge-out-of-end",
    severity="error",
    summary="A control edge leaves an EndNode.",
    fix="Remove the edge, or let it leave the node before the EndNode.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='{…, "from_node": {"$component_ref": "end"}, "to_node": {"$component_ref": "write"}}',
    good='{…, "from_node": {"$component_ref": "write"}, "to_node": {"$component_ref": "end"}}',
)
def no_edge_out_of_end(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        turned = Turned(flow)
        for route in flow.routes:
            if isinstance(flow.by_id.get(route.source), EndNode):
                place = part_of(subject, route.place, "from_node")
                report(
                    f'a control edge leaves the EndNode "{route.source}"',
                    place,
                    hint=f'turn it round: from_node "{route.target[:80]}", '
                    f'to_node "{route.source[:80]}"'
                    if route in turned.routes
                    else "remove the edge, or let it leave the node before the EndNode",
                )

"""A control edge joins two nodes of its flow.

an edge to a node that `nodes` does not list   ->   OAS042
"""

from __future__ import annotations

from oas_compiler.checks.structure.edges import part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS042",
    name="control-edge-nodes",
    severity="error",
    summary="A control edge names a node that is not in nodes.",
    fix="List the node in nodes, or lead the edge to one that is.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='"nodes": [{"$component_ref": "start"}, {"$component_ref": "end"}],\n'
    '"control_flow_connections": [{…, "to_node": {"$component_ref": "write"}}]',
    good='"nodes": [{"$component_ref": "start"}, {"$component_ref": "write"}, '
    '{"$component_ref": "end"}],\n'
    '"control_flow_connections": [{…, "to_node": {"$component_ref": "write"}}]',
)
def control_edge_nodes(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        if flow.lacks_nodes:
            continue  # the node that is meant is the entry that cannot be read
        for route in flow.routes:
            for member, end in (("from_node", route.source), ("to_node", route.target)):
                if end in flow.by_id:
                    continue
                report(
                    f'a control edge names "{end}", which is not in the nodes of the flow '
                    f'"{flow.id}"',
                    part_of(subject, route.place, member),
                    hint=report.nearest(end, flow.by_id) or "add it to nodes",
                )

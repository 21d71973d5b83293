"""A control edge joins two nodes of its flow.

edges to a node that `nodes` does not list   ->   OAS042, once, at the first of them

A wrong `start_node` is OAS050.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import unlisted
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


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
        for name, edge in unlisted(flow).items():
            report(
                f'"{name}" is defined but not listed in the nodes of the flow "{flow.id}"',
                subject.place(edge.pointer),
                hint="add it to nodes",
            )

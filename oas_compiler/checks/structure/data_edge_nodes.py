"""A data edge joins two nodes of its flow.

an edge from a node that `nodes` does not list   ->   OAS060, once; where a control edge names it
                                                      too, OAS042 says so
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import part_of, unlisted
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS060",
    name="data-edge-nodes",
    severity="error",
    summary="A data edge names a node that is not in nodes.",
    fix="List the node in nodes, or connect one that is.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='"nodes": [{"$component_ref": "start"}, {"$component_ref": "end"}],\n'
    '"data_flow_connections": [{…, "source_node": {"$component_ref": "write"}}]',
    good='"nodes": [{"$component_ref": "start"}, {"$component_ref": "write"}, '
    '{"$component_ref": "end"}],\n'
    '"data_flow_connections": [{…, "source_node": {"$component_ref": "write"}}]',
)
def data_edge_nodes(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        if flow.lacks_nodes:
            continue  # the node that is meant is the entry that cannot be read
        said = {*unlisted(flow), flow.start}
        for edge in flow.data_edges:
            for member, end in (("source_node", edge.source), ("destination_node", edge.target)):
                if end in flow.by_id or end in said:
                    continue
                said.add(end)
                report(
                    f'"{end}" is defined but not listed in the nodes of the flow "{flow.id}"',
                    part_of(subject, edge.place, member),
                    hint="add it to nodes",
                )

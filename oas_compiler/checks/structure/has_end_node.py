"""A flow has at least one EndNode.

nodes without an EndNode   ->   OAS041
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import unlisted
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, StartNode


@rule(
    code="OAS041",
    name="has-end-node",
    severity="error",
    summary="A flow has no EndNode.",
    fix="Add an EndNode to nodes and lead the last node to it.",
    source="Agent Spec, control flow; Cinatra V16 (no EndNode) and C2",
    needs="flow",
    aliases=("C2",),
    also=("V16",),
    bad='"nodes": [{"$component_ref": "start"}, {"$component_ref": "write"}]',
    good='"nodes": [{"$component_ref": "start"}, {"$component_ref": "write"}, '
    '{"$component_ref": "end"}]',
)
def has_end_node(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        hidden = flow.lacks_nodes or unlisted(flow)
        # which of several StartNodes was to be an EndNode is OAS040
        several = sum(isinstance(node, StartNode) for node in flow.nodes) > 1
        if not hidden and not several and not any(isinstance(node, EndNode) for node in flow.nodes):
            place = subject.place(f"{flow.place.pointer}/nodes")
            report(
                f'the flow "{flow.id}" has no EndNode',
                place,
                hint="add an EndNode to nodes and lead the last node to it",
            )

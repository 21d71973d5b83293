"""`start_node` is the StartNode of the flow's nodes.

"start_node": an ApiNode, or a StartNode that `nodes` does not list   ->   OAS050
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.ir import StartNode
from oas_compiler.rules import Report, rule


@rule(
    code="OAS050",
    name="start-node-is-listed",
    severity="error",
    summary="start_node is not the StartNode of the flow's nodes.",
    fix="Point start_node at the StartNode, and list that in nodes.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='"start_node": {"$component_ref": "write"}',
    good='"start_node": {"$component_ref": "start"}',
)
def start_node_is_listed(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        node = flow.by_id.get(flow.start)
        # an empty id stands for a start_node that leads nowhere, which has its finding
        if not flow.start or isinstance(node, StartNode) or (node is None and flow.lacks_nodes):
            continue
        report(
            f'start_node of the flow "{flow.id}" is "{flow.start}", which is not a StartNode '
            "of its nodes",
            subject.place(f"{flow.place.pointer}/start_node"),
        )

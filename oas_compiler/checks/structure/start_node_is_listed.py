"""`start_node` is the StartNode of the flow's nodes.

"start_node": an ApiNode, or a StartNode that `nodes` does not list   ->   OAS050
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, StartNode


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
        if isinstance(node, StartNode) or flow.start_is_unread:
            continue
        what = "defined but not listed in its nodes" if node is None else "not a StartNode"
        report(
            f'start_node of the flow "{flow.id}" is "{flow.start}", which is {what}',
            subject.place(f"{flow.place.pointer}/start_node"),
            hint=_format_hint(flow),
        )


def _format_hint(flow: FlowIR) -> str:
    if flow.start not in flow.by_id:
        return "add it to nodes"
    starts = [node.id for node in flow.nodes if isinstance(node, StartNode)]
    return f'the StartNode is "{starts[0]}"' if len(starts) == 1 else ""

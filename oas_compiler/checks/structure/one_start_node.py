"""A flow has one StartNode.

nodes without a StartNode, or with two   ->   OAS040
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import StartNode


@rule(
    code="OAS040",
    name="one-start-node",
    severity="error",
    summary="A flow has no StartNode, or more than one, in its nodes.",
    fix="List exactly one StartNode.",
    source="Agent Spec, control flow; Cinatra V15",
    needs="flow",
    aliases=("V15",),
    bad='"nodes": [{"$component_ref": "write"}, {"$component_ref": "end"}]',
    good='"nodes": [{"$component_ref": "start"}, {"$component_ref": "write"}, '
    '{"$component_ref": "end"}]',
)
def one_start_node(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        starts = [node for node in flow.nodes if isinstance(node, StartNode)]
        # the entry that cannot be read may be the StartNode; of one that is not listed OAS050 says so
        hidden = flow.lacks_nodes or (flow.start and flow.start not in flow.by_id)
        if len(starts) == 1 or (not starts and hidden):
            continue
        report(
            f'the flow "{flow.id}" has {len(starts)} StartNodes in its nodes, it needs one',
            starts[1].place if starts else subject.place(f"{flow.place.pointer}/nodes"),
            hint="keep one of them" if starts else "list the StartNode in nodes",
        )

"""At least one control edge leads to every EndNode.

an EndNode that no edge names   ->   OAS052
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Gaps
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode


@rule(
    code="OAS052",
    name="end-node-has-edge",
    severity="error",
    summary="No control edge leads to an EndNode.",
    fix="Lead a branch to the EndNode, or remove it.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='"nodes": [start, write, end, failed]   and no edge with   "to_node": failed',
    good='"nodes": [start, write, end, failed]   and an edge with   "to_node": failed',
)
def end_node_has_edge(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        targets = Gaps(flow).route_targets.union(route.target for route in flow.routes)
        lost = [
            node
            for node in flow.nodes
            if isinstance(node, EndNode) and targets.isdisjoint({node.id, ""})
        ]
        # the branches that lead nowhere (OAS045) would lead there
        loose = sum(
            branch not in flow.routes_of(node.id) for node in flow.nodes for branch in node.branches
        )
        for node in lost if loose < len(lost) else ():
            report(
                f'no control edge leads to the EndNode "{node.id}"',
                node.place,
                hint="lead the last node before it to it, or remove it",
            )

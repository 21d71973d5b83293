"""Every run can end.

a loop that no branch leaves   ->   OAS049 at each of its nodes

A branch that leads nowhere is `every_branch_leads_on`'s finding; nodes that only run into it are
not reported again.
"""

from __future__ import annotations

from oas_compiler.checks.structure.reach import Reach
from oas_compiler.checks.subject import Subject
from oas_compiler.ir import EndNode
from oas_compiler.rules import Report, rule


@rule(
    code="OAS049",
    name="end-is-reachable",
    severity="error",
    summary="No EndNode can be reached from a node: a run would go on for ever.",
    fix="Let one branch of the loop lead to an EndNode.",
    source="Agent Spec, control flow",
    needs="flow",
    bad="start → write → review → write",
    good="start → write → review, review → write by one branch and → end by the other",
)
def end_is_reachable(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        if not flow.lacks_nodes and not any(isinstance(node, EndNode) for node in flow.nodes):
            continue  # OAS041 says so
        reach = Reach(flow)
        if not reach.knows_ending:
            continue
        for node in flow.nodes:
            if node.id in reach.ending or node.id not in reach.reached:
                continue
            report(
                f'no EndNode can be reached from "{node.id}": a run would go on for ever',
                node.place,
                hint="let one branch of the loop lead to an EndNode",
            )

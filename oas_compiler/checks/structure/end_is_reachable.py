"""Every run can end.

a loop that no branch leaves   ->   OAS049 at the first of its nodes

A branch that leads nowhere is `every_branch_leads_on`'s finding; nodes that only run into it are
not reported again.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Reach, names_of
from oas_compiler.checks.subject import Subject
from oas_compiler.control.graph import Digraph
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, FlowIR, Node


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
        stuck = [
            node for node in flow.nodes if node.id in reach.reached and node.id not in reach.ending
        ]
        stuck = _in_circles(flow, stuck) or stuck
        if stuck:
            report(
                f"no EndNode can be reached from {names_of(stuck)}: a run would go on for ever",
                stuck[0].place,
                hint="let one branch of the loop lead to an EndNode",
            )


def _in_circles(flow: FlowIR, stuck: list[Node]) -> list[Node]:
    """The nodes that a run would go round in; those that only lead there are not wrong."""
    ids = {node.id for node in stuck}
    following = {i: [t for t in flow.routes_of(i).values() if t in ids] for i in ids}
    inside = {node_id for loop in Digraph(following).find_loops(ids) for node_id in loop}
    return [node for node in stuck if node.id in inside]

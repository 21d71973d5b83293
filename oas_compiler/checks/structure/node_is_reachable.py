"""A path leads from the StartNode to every node.

a node that no edge leads to   ->   OAS048 (warning)

An EndNode without an edge is `end_node_has_edge`'s finding.
"""

from __future__ import annotations

from oas_compiler.checks.structure.reach import Reach
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS048",
    name="node-is-reachable",
    severity="warning",
    summary="No path leads to a node: it never runs.",
    fix="Connect the node, or remove it.",
    source="Agent Spec, control flow",
    needs="flow",
    bad="start → end, and a node spare → end that nothing leads to",
    good="start → spare → end",
)
def node_is_reachable(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        reach = Reach(flow)
        if not reach.knows_reached:
            continue
        for node in flow.nodes:
            if node.id in reach.reached:
                continue
            if not flow.sources_of(node.id) and not flow.routes_of(node.id):
                continue  # nothing is connected: OAS045, of an EndNode OAS052
            report(f'no path leads to "{node.id}": it never runs', node.place)

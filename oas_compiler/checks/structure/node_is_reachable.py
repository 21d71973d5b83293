"""A path leads from the StartNode to every node.

a node that no edge leads to   ->   OAS048 (warning), with those that only it leads to

An EndNode without an edge is `end_node_has_edge`'s finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.lookup.edges import Reach, names_of
from oas_compiler.checks.subject import Subject
from oas_compiler.control.graph import reach_from
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, Node, StartNode


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
        if not isinstance(flow.by_id.get(flow.start), StartNode):
            continue  # OAS050 says so
        if reach.knows_ending and not reach.reached <= reach.ending:
            continue  # OAS049: the edge that is missing there leads here
        lost = [node for node in flow.nodes if node.id not in reach.reached]
        if lost and _has_loose_branch(flow, reach):
            continue  # OAS045, OAS043: the edge that is missing there leads here
        # nothing is connected: OAS045, of an EndNode OAS052
        lost = [node for node in lost if flow.sources_of(node.id) or flow.routes_of(node.id)]
        for group in _by_first(flow, lost):
            first, *behind = group
            also = f", nor does what only it leads to: {names_of(behind)}" if behind else ""
            report(
                f'no path leads to "{first.id}": it never runs{also}',
                first.place,
                hint=f'lead a control edge to "{first.id}", or remove it',
            )


def _by_first(flow: FlowIR, lost: list[Node]) -> list[list[Node]]:
    """The nodes that nothing leads to, each with those behind it that have no other way in."""
    waiting = {node.id: node for node in lost}
    heads = [node for node in lost if not any(s in waiting for s in flow.sources_of(node.id))]
    found: list[list[Node]] = []

    def following(node_id: str) -> Iterator[str]:
        return (target for target in flow.routes_of(node_id).values() if target in waiting)

    for head in [*heads, *lost]:  # a circle has no head
        if head.id not in waiting:
            continue
        behind = reach_from([head.id], following)
        found.append([waiting.pop(node_id) for node_id in behind])
    return found


def _has_loose_branch(flow: FlowIR, reach: Reach) -> bool:
    """Whether a node that runs has a branch without an edge."""
    return any(
        branch not in flow.routes_of(node.id)
        for node in flow.nodes
        if node.id in reach.reached
        for branch in node.branches
    )

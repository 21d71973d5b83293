"""Every branch of every node leads to exactly one node.

an edge from or to a node that is not in the flow   ->   OAS042
an edge from a branch the node does not have        ->   OAS043 did you mean "Yes"?
two edges from one branch                           ->   OAS044
a branch without an edge                            ->   OAS045
"""

from __future__ import annotations

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import EndNode, FlowIR, Node, Route
from oas_compiler.spelling import nearest
from oas_compiler.unsupported import UnsupportedNode


def branches(flow: FlowIR, findings: Diagnostics) -> None:
    nodes = {node.id: node for node in flow.nodes}
    leaving: dict[str, set[str]] = {}
    for route in flow.routes:
        if _has_both_ends(flow, route, nodes, findings):
            _check_branch(nodes[route.source], route, findings)
        taken = leaving.setdefault(route.source, set())
        if route.branch in taken:
            findings.error(
                "OAS044",
                f'the branch "{route.branch}" of "{route.source}" has two control edges',
                route.place,
                hint="a branch leads to one node; use a BranchingNode to choose",
            )
        taken.add(route.branch)
    for node in flow.nodes:
        if not isinstance(node, UnsupportedNode):
            _check_ways_out(node, leaving.get(node.id, set()), findings)


def _check_ways_out(node: Node, leaving: set[str], findings: Diagnostics) -> None:
    # an edge from "yes" was reported with the hint "Yes": say nothing about "Yes" once more
    misspelt = {branch.casefold() for branch in leaving - set(node.branches)}
    for branch in node.branches:
        if branch not in leaving and branch.casefold() not in misspelt:
            hint = "" if branch == "next" else f' with from_branch "{branch}"'
            findings.error(
                "OAS045",
                f'the branch "{branch}" of "{node.id}" leads nowhere',
                node.place,
                hint=f"add a control edge from this node{hint}",
            )


def _has_both_ends(
    flow: FlowIR, route: Route, nodes: dict[str, Node], findings: Diagnostics
) -> bool:
    missing = [end for end in (route.source, route.target) if end not in nodes]
    for end in missing:
        findings.error(
            "OAS042",
            f'a control edge names "{end}", which is not in the nodes of the flow "{flow.id}"',
            route.place,
            hint=nearest(end, nodes, findings) or "add it to nodes",
        )
    return not missing


def _check_branch(node: Node, route: Route, findings: Diagnostics) -> None:
    if isinstance(node, (EndNode, UnsupportedNode)) or route.branch in node.branches:
        return
    has = ", ".join(f'"{branch}"' for branch in node.branches)
    findings.error(
        "OAS043",
        f'"{node.id}" has no branch "{route.branch}", it has {has}',
        route.place,
        hint=_meant(route.branch, node.branches, findings),
    )


def _meant(branch: str, known: tuple[str, ...], findings: Diagnostics) -> str:
    """The branch that differs in case only, else the nearest spelling."""
    for name in known:
        if name.casefold() == branch.casefold():
            return f'did you mean "{name}"?'
    return nearest(branch, known, findings)

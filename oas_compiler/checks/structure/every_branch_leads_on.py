"""Every branch of every node leads to a node; `default` of a BranchingNode is a branch.

a BranchingNode without an edge from "default"   ->   OAS045
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from oas_compiler.checks.lookup.edges import Gaps, Turned, is_vague, meant_by, unlisted
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, FlowIR, Node

_UNNAMED: Final = "next"
"""The branch of an edge that names none."""


@rule(
    code="OAS045",
    name="every-branch-leads-on",
    severity="error",
    summary="A branch has no control edge; the branch default of a BranchingNode needs an edge too.",
    fix="Add a control edge from the node with that from_branch.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='"mapping": {"yes": "Yes"}   and only   {…, "from_branch": "Yes"}',
    good='"mapping": {"yes": "Yes"}   with   {…, "from_branch": "Yes"} and '
    '{…, "from_branch": "default"}',
)
def every_branch_leads_on(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        has_end = any(isinstance(node, EndNode) for node in flow.nodes)
        if not (has_end or flow.lacks_nodes or unlisted(flow)):
            continue  # OAS041: there is no EndNode that the last node could lead to
        gaps = Gaps(flow)
        turned: frozenset[str] | None = None
        leaving: dict[str, Counter[str]] = {}
        for route in flow.routes:
            leaving.setdefault(route.source, Counter())[route.branch] += 1
        for node in flow.nodes:
            if is_vague(node):
                continue
            branches = _find_loose_branches(node, leaving.get(node.id, Counter()))
            branches = [branch for branch in branches if not gaps.may_leave(node.id, branch)]
            if branches and _stands_alone(node, flow, gaps):
                report(
                    f'no control edge leads to "{node.id}" or away from it',
                    node.place,
                    hint="connect the node, or remove it",
                )
                continue
            if branches and turned is None:
                turned = frozenset(route.target for route in Turned(flow).routes)
            for branch in branches if turned is None or node.id not in turned else ():
                hint = "" if branch == "next" else f' with from_branch "{branch}"'
                report(
                    f'the branch "{branch}" of "{node.id}" leads nowhere',
                    node.place,
                    hint=f"add a control edge from this node{hint}",
                )


def _stands_alone(node: Node, flow: FlowIR, gaps: Gaps) -> bool:
    connected = flow.sources_of(node.id) or flow.routes_of(node.id) or node.id == flow.start
    return not connected and gaps.route_targets.isdisjoint({node.id, ""})


def _find_loose_branches(node: Node, leaving: Counter[str]) -> list[str]:
    """Branches without an edge, but not those that an edge with a wrong branch means."""
    loose = [branch for branch in node.branches if branch not in leaving]
    if not loose:
        return []
    wrong = leaving.keys() - set(node.branches)
    # an edge without from_branch may mean any of them
    if leaving[_UNNAMED] >= len(loose) and _UNNAMED in wrong:
        return []
    # a wrong branch name must mean the only way out
    if len(node.branches) == 1 and wrong:
        return []
    meant = meant_by(wrong, loose)
    return [branch for branch in loose if branch not in meant]

"""Every branch of every node leads to a node; `default` of a BranchingNode is a branch.

a BranchingNode without an edge from "default"   ->   OAS045
"""

from __future__ import annotations

from oas_compiler.checks.structure.gaps import Gaps, is_vague, meant_by
from oas_compiler.checks.subject import Subject
from oas_compiler.ir import Node
from oas_compiler.rules import Report, rule


@rule(
    code="OAS045",
    name="every-branch-leads-on",
    severity="error",
    summary="A branch leads nowhere; default of a BranchingNode counts.",
    fix="Add a control edge from the node with that from_branch.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='"mapping": {"yes": "Yes"}   and only   {…, "from_branch": "Yes"}',
    good='"mapping": {"yes": "Yes"}   with   {…, "from_branch": "Yes"} and '
    '{…, "from_branch": "default"}',
)
def every_branch_leads_on(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        gaps = Gaps(flow)
        leaving: dict[str, set[str]] = {}
        for route in flow.routes:
            leaving.setdefault(route.source, set()).add(route.branch)
        for node in flow.nodes:
            if is_vague(node):
                continue
            for branch in _loose(node, leaving.get(node.id, set())):
                if not gaps.may_leave(node.id, branch):
                    hint = "" if branch == "next" else f' with from_branch "{branch}"'
                    report(
                        f'the branch "{branch}" of "{node.id}" leads nowhere',
                        node.place,
                        hint=f"add a control edge from this node{hint}",
                    )


def _loose(node: Node, leaving: set[str]) -> list[str]:
    """Branches without an edge, but not those that a misspelt edge means."""
    loose = [branch for branch in node.branches if branch not in leaving]
    meant = meant_by(leaving.difference(node.branches), loose) if loose else frozenset()
    return [branch for branch in loose if branch not in meant]

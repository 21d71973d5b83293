"""A control edge leaves by a branch that its node has.

"from_branch": "yes" where the branch is "Yes"   ->   OAS043 did you mean "Yes"?
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.checks.lookup.edges import is_vague, part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, FlowIR, Node

_MOST_SHOWN: Final = 10
"""Branches in a message."""
_MOST_COMPARED: Final = 100
"""Branches among which one that differs in case only is looked for."""


@rule(
    code="OAS043",
    name="known-branches",
    severity="error",
    summary="A control edge leaves by a branch that its node does not have.",
    fix="Name one of the node's branches in from_branch.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='"mapping": {"yes": "Yes"}   with   "from_branch": "yes"',
    good='"mapping": {"yes": "Yes"}   with   "from_branch": "Yes"',
)
def known_branches(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        known: dict[str, Mapping[str, str]] = {}
        for route in flow.routes:
            node = flow.by_id.get(route.source)
            if node is None or isinstance(node, EndNode) or is_vague(node):
                continue
            if node.id not in known:
                known[node.id] = {branch: branch.casefold() for branch in node.branches}
            if route.branch not in known[node.id] and not _is_declared(subject, node, route.branch):
                place = part_of(subject, route.place, "from_branch")
                report(
                    f'"{node.id}" has no branch "{route.branch}", it has {_format_branches(node.branches)}',
                    route.place if route.branch == "next" else place,
                    hint=_suggest_branch(route.branch, known[node.id], report)
                    or _format_branch_hint(node, flow, route.branch),
                )


def _is_declared(subject: Subject, node: Node, branch: str) -> bool:
    """Whether the node says that it has this branch; that it has not is OAS051 then."""
    written = subject.written_at(node.place.pointer)
    return written is not None and branch in written.items("branches")


def _format_branches(branches: tuple[str, ...]) -> str:
    shown = ", ".join(f'"{branch}"' for branch in branches[:_MOST_SHOWN])
    return f"{shown}, …" if len(branches) > _MOST_SHOWN else shown or "none"


def _format_branch_hint(node: Node, flow: FlowIR, branch: str) -> str:
    """What to write where an edge names no branch, or one that is like none."""
    if not node.branches:
        return ""
    loose = [name for name in node.branches if name not in flow.routes_of(node.id)]
    name = (loose or list(node.branches))[0]
    if branch == "next" and len(loose) > 1:
        return "add from_branch with the branch that this edge leaves by"
    if branch == "next":
        return f'add "from_branch": "{name}"'
    return "leave from_branch out" if node.branches == ("next",) else ""


def _suggest_branch(branch: str, known: Mapping[str, str], report: Report) -> str:
    """The branch that differs in case only, else the nearest spelling."""
    folded = branch.casefold()
    if len(known) <= _MOST_COMPARED and folded in known.values():
        return f'did you mean "{next(name for name in known if known[name] == folded)}"?'
    return report.nearest(branch, known)

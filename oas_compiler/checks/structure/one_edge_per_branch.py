"""One branch leads to one node: flows do not fan out by control edges.

two edges from the branch "next" of "write"   ->   OAS044 at the second
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Turned, is_vague
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import StartNode


@rule(
    code="OAS044",
    name="one-edge-per-branch",
    severity="error",
    summary="Two control edges leave by one branch.",
    fix="Choose with a BranchingNode, or run the nodes one after the other.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='{…, "from_node": {"$component_ref": "start"}, "to_node": {"$component_ref": "a"}},\n'
    '{…, "from_node": {"$component_ref": "start"}, "to_node": {"$component_ref": "b"}}',
    good='{…, "from_node": {"$component_ref": "start"}, "to_node": {"$component_ref": "a"}},\n'
    '{…, "from_node": {"$component_ref": "a"}, "to_node": {"$component_ref": "b"}}',
)
def one_edge_per_branch(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        taken: set[tuple[str, str]] = set()
        reversed_edges = Turned(flow)
        for route in flow.routes:
            node = flow.by_id.get(route.source)
            known = node is None or is_vague(node) or route.branch in node.branches
            if route.source in flow.doubled:
                continue  # OAS027 says so
            if known and (route.source, route.branch) in taken:  # other branches are OAS043's
                turned = reversed_edges.by_branch.get((route.source, route.branch))
                if turned is not None and isinstance(flow.by_id.get(turned.target), StartNode):
                    continue  # OAS046 says so
                report(
                    f'the branch "{route.branch}" of "{route.source}" has two control edges',
                    (turned or route).place,
                    hint=f'turn this one round: from_node "{turned.target[:80]}", '
                    f'to_node "{turned.source[:80]}"'
                    if turned is not None
                    else "a branch leads to one node; use a BranchingNode to choose",
                )
            taken.add((route.source, route.branch))

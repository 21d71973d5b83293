"""Node ids are unique within a flow: edges, gates and the platform address nodes by id.

two nodes with id "end"   ->   OAS027 at the second
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Node


@rule(
    code="OAS027",
    name="unique-node-ids",
    severity="error",
    summary="Two nodes of a flow have the same id.",
    fix="Give one of them another id.",
    source="Agent Spec, component model",
    needs="flow",
    bad='"draft": {"component_type": "ApiNode", "id": "write", …},\n'
    '"polish": {"component_type": "ApiNode", "id": "write", …}',
    good='"draft": {"component_type": "ApiNode", "id": "draft", …},\n'
    '"polish": {"component_type": "ApiNode", "id": "polish", …}',
)
def unique_node_ids(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        known: dict[str, Node] = {}
        for node in flow.nodes:
            first = known.setdefault(node.id, node)
            if not node.id or first is node:
                continue
            # the one that is defined under another name is mostly the one that is wrong
            wrong = (
                first
                if _read_node_key(first) not in {"", node.id} and _read_node_key(node) == node.id
                else node
            )
            key = _read_node_key(wrong)
            report(
                f'the flow "{flow.id}" has two nodes with the id "{node.id}"',
                subject.place(f"{wrong.place.pointer}/id"),
                hint=f'write "id": "{key[:80]}"'
                if key not in {"", node.id}
                else "give one of them another id",
            )


def _read_node_key(node: Node) -> str:
    """The name under which a node is defined; empty for one in a list."""
    key = node.place.pointer.rpartition("/")[2]
    return "" if key.isdigit() else key.replace("~1", "/").replace("~0", "~")

"""Node ids are unique within a flow: edges, gates and the platform address nodes by id.

two nodes with id "end"   ->   OAS027 at the second
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


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
        seen: set[str] = set()
        for node in flow.nodes:
            if node.id and node.id in seen:
                message = f'the flow "{flow.id}" has two nodes with the id "{node.id}"'
                report(message, subject.place(f"{node.place.pointer}/id"))
            seen.add(node.id)

"""A flow names each of its nodes once.

"nodes": [{"$component_ref": "a"}, {"$component_ref": "a"}]   ->   OAS131 at the second; removed by --fix

In plain Agent Spec files this is valid: OAS028 warns of it.
"""

from __future__ import annotations

from cinatra_sdk.data.ports import REFERENCE
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS131",
    name="node-reference-once",
    severity="error",
    summary="A Cinatra flow names one of its nodes twice.",
    fix="Remove the second entry.",
    source="Cinatra V14",
    needs="cinatra",
    fixable=True,
    aliases=("V14",),
    bad='"nodes": [{"$component_ref": "write"}, {"$component_ref": "write"}]',
    good='"nodes": [{"$component_ref": "write"}]',
)
def node_reference_once(subject: Subject, report: Report) -> None:
    for flow in subject.of_type("Flow"):
        seen: set[str] = set()
        for index, node in enumerate(flow.items("nodes")):
            name = node.get(REFERENCE) if isinstance(node, dict) else None
            if not isinstance(name, str):
                continue
            if name in seen:
                pointer = flow.at("nodes", index)
                report(
                    f'{flow.label} names the node "{name[:80]}" twice',
                    subject.place(pointer),
                    hint="remove the second entry",
                    fix=(Edit(pointer=pointer, value=None),),
                )
            seen.add(name)

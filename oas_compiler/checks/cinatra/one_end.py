"""The root flow of a Cinatra file has one EndNode; a flow without an EndNode is OAS041.

nodes: start, a, end, other_end   ->   OAS111 at the second EndNode

Agent Spec allows several EndNodes, and the subflows of a Cinatra file may have several.
"""

from __future__ import annotations

from cinatra_sdk.data.ports import REFERENCE
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child


@rule(
    code="OAS111",
    name="one-end",
    severity="error",
    summary="The root flow of a Cinatra file has more than one EndNode.",
    fix="Lead every branch to one EndNode, and give the outputs that a branch does not set a default.",
    source="Cinatra V16",
    needs="cinatra",
    aliases=("V16",),
    bad='"nodes": [{"$component_ref": "start"}, {"$component_ref": "end"}, {"$component_ref": "rejected_end"}]',
    good='"nodes": [{"$component_ref": "start"}, {"$component_ref": "end"}]',
)
def one_end(subject: Subject, report: Report) -> None:
    if subject.root is None:
        return
    ends = _find_end_nodes(subject.root)
    for pointer, name in list(ends.items())[1:]:
        report(
            f'"{name}" is one of {len(ends)} EndNodes of the root flow, the host takes one',
            subject.place(pointer),
            hint=f'lead its control edges to "{next(iter(ends.values()))}" and remove it',
        )


def _find_end_nodes(root: Written) -> dict[str, str]:
    """Pointer and name of the EndNodes among `nodes`, each once."""
    block = root.value.get(DEFINITIONS)
    components: dict[str, JsonValue] = block if isinstance(block, dict) else {}
    ends: dict[str, str] = {}
    for index, entry in enumerate(root.items("nodes")):
        name = entry.get(REFERENCE) if isinstance(entry, dict) else None
        node, pointer = entry, root.at("nodes", index)
        if isinstance(name, str):
            node, pointer = components.get(name), child(root.at(DEFINITIONS), name)
        if isinstance(node, dict) and node.get("component_type") == "EndNode":
            own = node.get("id")
            ends[pointer] = (name if isinstance(name, str) else str(own))[:80]
    return ends

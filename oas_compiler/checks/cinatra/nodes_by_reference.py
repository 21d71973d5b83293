"""The root flow names its nodes: `start_node` and `nodes` hold references only.

"nodes": [{"component_type": "StartNode", …}]   ->   OAS104; Agent Spec itself allows it

An entry that is no component at all is OAS014 or OAS022.
"""

from __future__ import annotations

from cinatra_sdk.data.ports import REFERENCE
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import Unread, is_reference
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS104",
    name="nodes-by-reference",
    severity="error",
    summary="A node is written out in nodes or start_node of a Cinatra flow instead of being named.",
    fix="Move the node to $referenced_components and name it with a $component_ref.",
    source="Cinatra S6",
    needs="cinatra",
    aliases=("S6",),
    bad='"nodes": [{"component_type": "StartNode", "id": "start", …}]',
    good='"nodes": [{"$component_ref": "start"}],\n"$referenced_components": {"start": {…}}',
)
def nodes_by_reference(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None:
        return
    start = root.value.get("start_node")
    places = [("start_node",)] if isinstance(start, dict) and not is_reference(start) else []
    listed = [
        ("nodes", index)
        for index, node in enumerate(root.items("nodes"))
        if isinstance(node, dict) and not is_reference(node)
    ]
    told = subject.unread(Unread.KIND_OF_COMPONENT, Unread.KIND_OF_VALUE)
    for keys in (*places, *listed):
        if root.at(*keys) in told:
            continue
        report(
            f"{_describe_entry(root, keys)} must be a {REFERENCE} to an entry of $referenced_components",
            subject.place(root.at(*keys)),
        )


def _describe_entry(root: Written, keys: tuple[str | int, ...]) -> str:
    return "start_node" if len(keys) == 1 else f"entry {keys[1]} of the nodes of {root.label}"

"""The toolboxes of the root flow stand in every bridge call too.

metadata.cinatra.toolboxes ["cinatra-mcp"], a bridge node without data.toolbox_ids
    ->   OAS123; the fix copies them there
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import Addition, bridge_nodes, lacks, misspelt_key
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS123",
    name="bridge-toolboxes",
    severity="error",
    summary="The root flow has metadata.cinatra.toolboxes, but a bridge call lacks data.toolbox_ids.",
    fix="Copy toolboxes into data.toolbox_ids of the node; a call that already has them keeps them.",
    source="Cinatra V30",
    needs="cinatra",
    fixable=True,
    aliases=("V30", "OAS-RUNTIME-007"),
    bad='"toolboxes": ["web_search"], …\n"data": {"agent_id": "mail-agent", "user": "…"}',
    good='"toolboxes": ["web_search"], …\n"data": {"agent_id": "mail-agent", "user": "…", "toolbox_ids": ["web_search"]}',
)
def bridge_toolboxes(subject: Subject, report: Report) -> None:
    toolboxes = subject.root.cinatra.get("toolboxes") if subject.root is not None else None
    if not isinstance(toolboxes, list) or not toolboxes:
        return
    # a bridge call takes only a list of names
    names = all(isinstance(name, str) for name in toolboxes)
    addition = Addition("toolbox_ids", toolboxes)
    for node in bridge_nodes(subject):
        if lacks(node, "toolbox_ids"):
            near = misspelt_key(node, "toolbox_ids")
            report(
                f"{node.label} lacks data.toolbox_ids, which the root flow asks for",
                subject.place(node.pointer),
                hint=f'"{near[:80]}" in data is read by nobody: did you mean "toolbox_ids"?'
                if near
                else "copy metadata.cinatra.toolboxes of the root flow into data.toolbox_ids",
                fix=addition.to(node) if names else (),
            )

"""SKILL.md lists every MCP tool that the flow itself calls.

an ApiNode that passes "tool": "objects_save" through, and SKILL.md does not say so   ->   OAS183
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from oas_compiler.checks.guide.skill_retrieval_section import TITLE, retrieval_heading
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule

_PASSTHROUGH: Final = "/api/agents/passthrough"
_WORD: Final = re.compile(r"\w+(?:[.-]+\w+)*")


@rule(
    code="OAS183",
    name="unlisted-mcp-tool",
    severity="warning",
    summary='The flow calls an MCP tool that "## What I retrieve myself (MCP)" does not name.',
    fix="Name the tool in that section of SKILL.md.",
    source="agent guide, rules 7 and 10",
    needs="package",
    also=("guide-rule-7",),
    bad="## What I retrieve myself (MCP)\n\nNothing.          (and an ApiNode with tool objects_save)",
    good="## What I retrieve myself (MCP)\n\n- objects_save     (and an ApiNode with tool objects_save)",
)
def unlisted_mcp_tool(subject: Subject, report: Report) -> None:
    package = subject.agent
    skill = package.own_skill if package is not None else None
    heading = retrieval_heading(skill) if skill is not None else None
    if skill is None or heading is None:
        return
    named = set(_WORD.findall(skill.section(heading)))
    told: set[str] = set()
    for node in subject.of_type("ApiNode"):
        for tool, pointer in _iterate_tools(node):
            if tool not in named and tool not in told and "{{" not in tool:
                told.add(tool)
                report(
                    f'{node.label} calls the MCP tool "{tool[:80]}", which SKILL.md does not list',
                    subject.place(pointer),
                    hint=report.nearest(tool, named)
                    or f'name it under "## {TITLE}" of {skill.file}',
                )


def _iterate_tools(node: Written) -> Iterator[tuple[str, str]]:
    """Names of tools with their pointers: of the call itself, and of `metadata.cinatra.tools`."""
    data = node.value.get("data")
    tool = data.get("tool") if isinstance(data, dict) else None
    if isinstance(tool, str) and node.text("url").endswith(_PASSTHROUGH):
        yield tool, node.at("data", "tool")
    listed = node.cinatra.get("tools")
    for index, name in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(name, str):
            yield name, node.at("metadata", "cinatra", "tools", index)

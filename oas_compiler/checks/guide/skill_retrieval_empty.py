"""The section about the data that the agent fetches itself is not empty.

## What I retrieve myself (MCP)        ## What I retrieve myself (MCP)
## Next          ->  OAS182            Nothing: all of it is an input.
"""

from __future__ import annotations

import re
from typing import Final

from oas_compiler.checks.guide.skill_retrieval_section import TITLE, retrieval_heading
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place

_COMMENT: Final = re.compile(r"<!--[\s\S]*?(?:-->|\Z)")
_SAYS: Final = re.compile(
    r"^(?![ \t]*(?:#{1,6}(?:[ \t]|$)|[-*+_][ \t]*$|\{[^\n{}]*\}[ \t]*$)).*\w", re.MULTILINE
)
"""A line with a word that is no heading, no empty bullet and no placeholder `{…}`."""


@rule(
    code="OAS182",
    name="skill-retrieval-empty",
    severity="warning",
    summary='The section "## What I retrieve myself (MCP)" is empty.',
    fix="List the MCP tools that the agent calls by itself, or write: Nothing.",
    source="agent guide, rule 7",
    needs="package",
    also=("guide-rule-7",),
    bad="## What I retrieve myself (MCP)\n\n## How I answer",
    good="## What I retrieve myself (MCP)\n\nNothing.\n\n## How I answer",
)
def skill_retrieval_empty(subject: Subject, report: Report) -> None:
    package = subject.agent
    skill = package.own_skill if package is not None else None
    heading = retrieval_heading(skill) if skill is not None else None
    if package is None or skill is None or heading is None:
        return
    if not _SAYS.search(_COMMENT.sub("", skill.section(heading))):
        report(
            f'the section "## {TITLE}" is empty',
            Place("", heading.line, 1),
            hint='list the MCP tools, or write "Nothing."',
            file=package.name_of(skill.file),
        )

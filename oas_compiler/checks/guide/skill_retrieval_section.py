"""SKILL.md has a section about the data that the agent fetches itself.

a SKILL.md without "## What I retrieve myself (MCP)"   ->   OAS181
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.package.skill import Heading, Skill

TITLE: Final = "What I retrieve myself (MCP)"


def retrieval_heading(skill: Skill) -> Heading | None:
    """The heading of the section; `None` where it is missing or misspelt."""
    return next((h for h in skill.headings if h.level == 2 and h.title == TITLE), None)


@rule(
    code="OAS181",
    name="skill-retrieval-section",
    severity="error",
    summary='SKILL.md has no section "## What I retrieve myself (MCP)".',
    fix="Add the section and list the MCP tools that the agent calls by itself, or write: Nothing.",
    source="agent guide, rule 7",
    needs="package",
    aliases=("guide-rule-7",),
    bad="---\nname: agent-mail\ndescription: Sends mail.\n---\nSends mail.",
    good="---\nname: agent-mail\ndescription: Sends mail.\n---\nSends mail.\n\n## What I retrieve myself (MCP)\n\n- contacts_list",
)
def skill_retrieval_section(subject: Subject, report: Report) -> None:
    package = subject.agent
    skill = package.own_skill if package is not None else None
    if package is None or skill is None or retrieval_heading(skill) is not None:
        return
    meant = _find_similar_heading(skill)
    if meant is None:
        place, hint = Place("", 1, 1), f'add "## {TITLE}" with the MCP tools, or "Nothing."'
    else:
        place = Place("", meant.line, 1)
        hint = f'did you mean "## {TITLE}" instead of "{"#" * meant.level} {meant.title[:60]}"?'
    report(
        f'{skill.file} has no section "## {TITLE}"',
        place,
        hint=hint,
        file=package.name_of(skill.file),
    )


def _find_similar_heading(skill: Skill) -> Heading | None:
    """The most similar heading, in any case and level."""
    titles = {h.title.casefold()[:100]: h for h in reversed(skill.headings[:200])}
    near = get_close_matches(TITLE.casefold(), titles, n=1, cutoff=0.6)
    return titles[near[0]] if near else None

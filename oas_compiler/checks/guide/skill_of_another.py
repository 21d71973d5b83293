"""SKILL.md is about this agent: it has the agent's name, and names existing nodes.

    package "@x/mail-agent", "name: agent-report-agent"          ->  OAS246
    "Gate `review_darft`", and the flow has `review_draft`       ->  OAS246 did you mean "review_draft"?
    "name: mail-writer"              fine: like nothing of another agent, only another word

Only clear slips are reported: a name that ends in "agent" and is not a name of this agent, and a
word in backticks that is almost the id of a node and no other word of the flow.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.package.package import Package
from oas_compiler.package.skill import Skill

_QUOTED: Final = re.compile(r"`([A-Za-z][\w-]{3,79})`")
_MOST: Final = 200
"""Words of a SKILL.md that are compared."""


@rule(
    code="OAS246",
    name="skill-of-another",
    severity="warning",
    summary="SKILL.md has the name of another agent, or names a node that the flow does not have.",
    fix="Write the agent's own name into the frontmatter, and the ids of nodes as the flow has them.",
    source="agent guide, rule 6",
    needs="package",
    bad="name: agent-report-agent     (the package is @acme/mail-agent)",
    good="name: agent-mail-agent",
)
def skill_of_another(subject: Subject, report: Report) -> None:
    package = subject.agent
    skill = package.own_skill if package is not None else None
    if package is None or skill is None:
        return
    name = skill.front.get("name")
    if isinstance(name, str) and _is_of_another(name, package):
        report(
            f'SKILL.md is named "{name[:80]}", and the agent is called otherwise',
            Place("", _line_of(skill, name), 1),
            hint=f'write "name: agent-{package.own_names[0][:80]}"',
            file=package.name_of(skill.file),
        )
    ids = {node.id for flow in subject.flows for node in flow.nodes}
    words = {word for text in subject.texts for word in (text.value, *text.keys)}
    told: set[str] = set()
    for line, column, word in _find_quoted_words(skill):
        if word in ids or word in words or word in told or "_" not in word:
            continue
        near = get_close_matches(word, sorted(ids), n=1, cutoff=0.85)
        if near:
            told.add(word)
            report(
                f'SKILL.md names "{word}", and no node of the flow is called so',
                Place("", line, column),
                hint=f'did you mean "{near[0]}"?',
                file=package.name_of(skill.file),
            )


def _is_of_another(name: str, package: Package) -> bool:
    known = {own.casefold() for own in package.own_names}
    return name.endswith("-agent") and name.casefold() not in known


def _line_of(skill: Skill, name: str) -> int:
    lines = enumerate(skill.lines[: skill.body], start=1)
    return next((number for number, line in lines if name in line), 1)


def _find_quoted_words(skill: Skill) -> list[tuple[int, int, str]]:
    found = [
        (number + 1, match.start(1) + 1, match[1])
        for number in range(skill.body, len(skill.lines))
        if number not in skill.code_lines
        for match in _QUOTED.finditer(skill.lines[number])
    ]
    return found[:_MOST]

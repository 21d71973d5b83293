"""A SKILL.md begins with its name and one line about it.

---                                  ---
description: Sends mail.             name: agent-mail
---          ->  OAS180: no name     description: Sends mail.
                                     ---

It is YAML, read as flows are.
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place

HINT: Final = "begin the file with ---, name: …, description: …, ---"


@rule(
    code="OAS180",
    name="skill-frontmatter",
    severity="warning",
    summary="The frontmatter of a SKILL.md has no name or no description.",
    fix="Begin the file with ---, name, description and ---.",
    source="agent guide, rule 6, template",
    needs="package",
    also=("guide-rule-6",),
    bad="# Mail agent\n\nSends mail.",
    good="---\nname: agent-mail\ndescription: Sends mail.\n---\n\nSends mail.",
)
def skill_frontmatter(subject: Subject, report: Report) -> None:
    package = subject.agent
    for skill in package.skills if package is not None else ():
        missing = [key for key in ("name", "description") if not skill.front.get(key)]
        if package is None or not missing:
            continue
        if skill.flaw is not None and skill.flaw[0] != "the document is empty":
            why, place = skill.flaw
            message = f"the frontmatter of {skill.file} cannot be read: {why}"
            report(message, place, hint=HINT, file=package.name_of(skill.file))
            continue
        what = "name and description" if len(missing) == 2 else missing[0]
        opened = skill.lines[0].rstrip() == "---"
        message = f"the frontmatter of {skill.file} has no {what}"
        if not skill.body:
            end = "no closing ---" if opened else "none"
            message = f"{skill.file} begins without a frontmatter: there is {end}"
        report(
            message,
            Place("", 1, 1),
            hint=HINT,
            file=package.name_of(skill.file),
        )

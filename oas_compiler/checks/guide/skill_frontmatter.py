"""A SKILL.md begins with its name and one line about it.

---                                  ---
description: Sends mail.             name: agent-mail
---          ->  OAS180: no name     description: Sends mail.
                                     ---
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.ir import Place
from oas_compiler.rules import Report, rule


@rule(
    code="OAS180",
    name="skill-frontmatter",
    severity="warning",
    summary="The frontmatter of a SKILL.md has no name or no description.",
    fix="Begin the file with ---, name, description and ---.",
    source="agent guide (seed 003), rule 6, template",
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
        what = "name and description" if len(missing) == 2 else missing[0]
        opened = skill.lines[0].rstrip() == "---"
        message = f"the frontmatter of {skill.file} has no {what}"
        if not skill.body:
            end = "no closing ---" if opened else "none"
            message = f"{skill.file} begins without a frontmatter: there is {end}"
        report(
            message,
            Place("", 1, 1),
            hint="begin the file with ---, name: …, description: …, ---",
            file=package.name_of(skill.file),
        )

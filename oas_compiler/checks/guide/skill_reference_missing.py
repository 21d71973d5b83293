"""The files that a SKILL.md refers to are in the package.

Run `scripts/send.py`. (and there is no such file)   ->   OAS184
See [the table](../elsewhere/table.md)               ->   OAS184: it leaves the package
"""

from __future__ import annotations

import posixpath

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.package.package import Package

_MOST = 200
"""References of one SKILL.md that are looked up."""


@rule(
    code="OAS184",
    name="skill-reference-missing",
    severity="warning",
    summary="A SKILL.md refers to a file that the package does not hold.",
    fix="Add the file to the package, or correct its name.",
    source="agent guide, rule 8 and self-containment",
    needs="package",
    aliases=("guide-rule-8",),
    bad="Run `scripts/sned.py`.    (the package holds scripts/send.py)",
    good="Run `scripts/send.py`.    (the package holds scripts/send.py)",
)
def skill_reference_missing(subject: Subject, report: Report) -> None:
    package = subject.agent
    for skill in package.skills if package is not None else ():
        folder = posixpath.dirname(skill.file)
        for reference in skill.references[:_MOST]:
            places = [
                posixpath.normpath(posixpath.join(at, reference.target)) for at in (folder, "")
            ]
            if package is None or any(package.has(place) for place in places):
                continue
            outside = places[0].startswith("../")
            report(
                f"{skill.file} refers to {reference.target[:120]}, which "
                + ("lies outside of the package" if outside else "the package does not hold"),
                reference.place,
                hint=""
                if outside
                else _format_nearest_hint(package, reference.target, folder, report),
                file=package.name_of(skill.file),
            )


def _format_nearest_hint(package: Package, target: str, folder: str, report: Report) -> str:
    """The nearest file, written as the skill would write it."""
    inside = f"{folder}/" if folder else ""
    known = {file.removeprefix(inside) for file in package.files}
    same_name = [name for name in known if posixpath.basename(name) == posixpath.basename(target)]
    if len(same_name) == 1:
        return f'did you mean "{same_name[0]}"?'
    return report.nearest(target, known)

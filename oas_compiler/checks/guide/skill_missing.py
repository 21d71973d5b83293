"""An agent package has a SKILL.md that describes the agent.

no SKILL.md and no skills/<agent>/SKILL.md   ->   OAS179
"""

from __future__ import annotations

from difflib import get_close_matches

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.package.package import Package


@rule(
    code="OAS179",
    name="skill-missing",
    severity="warning",
    summary="The package has no SKILL.md of the agent itself.",
    fix="Write SKILL.md beside package.json, or skills/<agent>/SKILL.md.",
    source="agent guide, rule 6",
    needs="package",
    aliases=("guide-rule-6",),
    bad="cinatra/oas.json, package.json",
    good="cinatra/oas.json, package.json, SKILL.md",
)
def skill_missing(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None or package.own_skill is not None:
        return
    report(
        "the package has no SKILL.md that says what the agent does",
        Place("", 1, 1),
        hint=_format_hint(package),
        file=package.manifest_file,
    )


def _format_hint(package: Package) -> str:
    """A hint with the file that was probably meant."""
    own = package.own_names
    for file in package.files:
        if file.casefold() in {"skill.md", "skills.md"} or file == f"cinatra/{_NAME}":
            return (
                f"rename {file} to {_NAME}"
                if file != _NAME
                else f"{_NAME} is no text: save it as UTF-8"
            )
    folders = [skill.file.split("/")[-2] for skill in package.skills if "/" in skill.file]
    for name in own:
        near = get_close_matches(name, folders[:50], n=1, cutoff=0.75)
        if near:
            return f'rename the folder "{near[0]}" to "{own[0]}", if that is the agent\'s own'
    return f"write {_NAME} beside package.json, or skills/{own[0]}/{_NAME}"


_NAME = "SKILL.md"

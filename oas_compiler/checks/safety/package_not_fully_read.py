"""A check reports the files of a package that it did not search for credentials, and skills that it
did not read.

    data.csv of 20 MB, a folder that may not be listed, a tenth SKILL.md of 0.5 MB   ->  OAS215
    notes.md, a link to /etc/hosts                                                   ->  OAS215

One finding for each kind, with how many there are and the names of the first.  Scripts are OAS187.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oas_compiler.checks.safety.packaged_credential import shown
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.package.package import Package

_MOST_NAMED: Final = 5
"""Names that one finding lists."""


@rule(
    code="OAS215",
    name="package-not-fully-read",
    severity="warning",
    summary="A part of the package was not looked at, because it is too large, may not be read, or "
    "is a link that leads out of the package, a pipe or a device.",
    fix="Keep data and what is built out of the package, let its files be read, and copy into it "
    "what a link leads to.",
    source="agent guide: credentials are never stored in an agent",
    needs="package",
    bad="data/contacts.csv  # 20 MB",
    good="data/contacts.csv  # 20 kB",
)
def package_not_fully_read(subject: Subject, report: Report) -> None:
    package = subject.package
    if package is None:
        return
    for first, message in _left_out(package, is_agent=subject.agent is not None):
        report(message, Place("", 1, 1), file=package.name_of(first))


def _left_out(package: Package, *, is_agent: bool) -> Iterator[tuple[str, str]]:
    """The first file of each kind and its description."""
    if package.refused_files:
        what = _describe_skipped(package.refused_files, "file")
        rule = "a link that leads out of the package, a pipe and a device are not read"
        yield package.refused_files[0], f"{what} not looked at: {rule}"
    files, folders, skills = package.scan.left_out, package.closed_folders, package.unread_skills
    if files:
        what = _describe_skipped(files, "file")
        yield files[0], f"{what} not, or only in part, looked through for credentials"
    if folders:
        yield (
            "package.json",
            f"{_describe_skipped(folders, 'folder')} not listed: reading is not allowed",
        )
    if skills and is_agent:
        yield (
            skills[0],
            f"{_describe_skipped(skills, 'skill')} not looked at: no UTF-8 text, or too much",
        )
    if package.is_cut and not is_agent:  # for an agent, OAS187 reports it
        yield "package.json", f"only {len(package.files)} files of the package were looked at"


def _describe_skipped(names: tuple[str, ...], kind: str) -> str:
    if len(names) == 1:
        return f'the {kind} "{shown(names[0])}" was'
    listed = ", ".join(f'"{shown(name)}"' for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{len(names)} {kind}s ({listed}{more}) were"

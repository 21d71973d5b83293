"""The name of a package is one that a host can look up in its folders.

"@acme/mail-agent"    fine
"@acme/mail/agent"    OAS129, more than one slash
"@acme/../secret"     OAS129, as is NUL, which no document may hold (OAS007)
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue


@rule(
    code="OAS129",
    name="package-name",
    severity="error",
    summary='A package name has ".." or more than one slash.',
    fix="Write the name as in package.json: @scope/name.",
    source="Cinatra C3",
    needs="cinatra",
    aliases=("C3",),
    bad='"packageName": "@acme/agents/mail"',
    good='"packageName": "@acme/mail-agent"',
)
def package_names(subject: Subject, report: Report) -> None:
    for found in subject.components:
        name = found.cinatra.get("packageName")
        problem = _find_name_problem(name)
        if problem:
            report(
                f"the packageName of {found.label} {problem}",
                subject.place(found.at("metadata", "cinatra", "packageName")),
                hint="a package is named @scope/name",
            )
    if subject.package is not None:
        problem = _find_name_problem(subject.package.manifest.get("name"))
        if problem:
            report(
                f"the name of the package {problem}",
                subject.package.place("/name"),
                file=subject.package.manifest_file,
                hint="a package is named @scope/name",
            )


def _find_name_problem(name: JsonValue) -> str:
    if not isinstance(name, str):
        return ""
    if ".." in name:
        return 'has ".." in it'
    return "has more than one slash" if name.count("/") > 1 else ""

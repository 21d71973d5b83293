"""The flow and its package.json give the package the same name.

packageName "@x/mail-agent" beside package.json name "@x/email-agent"   ->   OAS171
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS171",
    name="package-name-drift",
    severity="error",
    summary="The flow's packageName is not the name in package.json.",
    fix="Write the name of package.json into metadata.cinatra.packageName.",
    source="agent guide, rule 1; Cinatra, compile rule 9",
    needs="package",
    also=("guide-rule-1",),
    bad='"packageName": "@acme/mail"          (package.json: "name": "@acme/mail-agent")',
    good='"packageName": "@acme/mail-agent"    (package.json: "name": "@acme/mail-agent")',
)
def package_name_drift(subject: Subject, report: Report) -> None:
    package, root = subject.agent, subject.root
    if package is None or root is None:
        return
    told, name = root.cinatra.get("packageName"), package.manifest.get("name")
    if not isinstance(told, str) or not isinstance(name, str) or not name.strip() or told == name:
        return
    report(
        f'the flow calls its package "{told[:120]}", package.json calls it "{name[:120]}"',
        subject.place(root.at("metadata", "cinatra", "packageName")),
        hint=f'a host takes the name of package.json: write "{name[:120]}"',
    )

"""A package with context slots has a version, so that a host notices the change.

    {"name": "@x/writer"}                            ->  OAS163 in package.json
    {"name": "@x/writer", "version": "0.2.0"}

A host reads a package again only when its version changes.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS163",
    name="context-package-version",
    severity="error",
    summary="A package whose flow declares context slots has no version.",
    fix="Write a version into package.json, and raise it with every change of the slots.",
    source="context slots, adoption checklist 9",
    needs="package",
    bad='{"name": "@x/writer"}',
    good='{"name": "@x/writer", "version": "0.2.0"}',
)
def context_package_version(subject: Subject, report: Report) -> None:
    package = subject.package
    if package is not None and lacks_slot_version(subject):
        report(
            "the flow declares context slots and its package has no version: a host would not "
            "read the change",
            package.place("/version"),
            hint='write "version": "0.1.0" and raise it with every change',
            file=package.manifest_file,
        )


def lacks_slot_version(subject: Subject) -> bool:
    """Whether the package of a flow with context slots has no version.

    A version that is no text is reported by OAS198.
    """
    package = subject.package
    if package is None or package.source is None:
        return False
    if not any(found.flow is subject.flow for found in subject.slot_flows):
        return False
    version = package.manifest.get("version")
    return version is None or (isinstance(version, str) and not version.strip())

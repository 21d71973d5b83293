"""The flow and its package.json name one version.

metadata.cinatra.packageVersion "0.1.0", package.json "0.2.0"   ->   OAS126; the fix writes "0.2.0"

package.json decides, because the host reads name and version of an agent there, never in the flow.
An invalid version there is OAS198 and decides nothing.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Json
from oas_compiler.package.dependencies import is_version


@rule(
    code="OAS126",
    name="package-version",
    severity="error",
    summary="packageVersion of the flow is not the version in package.json.",
    fix="Write the version of package.json into metadata.cinatra.packageVersion, or leave that out.",
    source="Cinatra P1",
    needs="package",
    fixable=True,
    aliases=("P1", "package_version_oas_pkg_drift"),
    bad='oas.json: "packageVersion": "0.1.0"     package.json: "version": "0.2.0"',
    good='oas.json: "packageVersion": "0.2.0"     package.json: "version": "0.2.0"',
)
def package_version(subject: Subject, report: Report) -> None:
    if subject.root is None or subject.package is None:
        return
    version = subject.package.manifest.get("version")
    claimed = subject.root.cinatra.get("packageVersion")
    if not isinstance(version, str) or not isinstance(claimed, str) or version == claimed:
        return
    if not is_version(version):
        return
    pointer = subject.root.at("metadata", "cinatra", "packageVersion")
    report(
        f'the flow says it is version "{claimed[:80]}", package.json says "{version[:80]}"',
        subject.place(pointer),
        hint="package.json decides",
        fix=(Edit(pointer=pointer, value=Json.of(version)),),
    )

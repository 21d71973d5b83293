"""The package.json of an agent names a license.

{"name": "@acme/mail-agent", "version": "0.1.0"}   ->   OAS127 in package.json
"""

from __future__ import annotations

from oas_compiler.checks.lookup.value_flaws import misspelt_members
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS127",
    name="package-license",
    severity="error",
    summary="The package.json of an agent has no license.",
    fix='Add "license" with an SPDX identifier, or "UNLICENSED".',
    source="Cinatra P2",
    needs="package",
    aliases=("P2", "agent_package_missing_license"),
    bad='{"name": "@acme/mail-agent", "version": "0.1.0"}',
    good='{"name": "@acme/mail-agent", "version": "0.1.0", "license": "Apache-2.0"}',
)
def package_license(subject: Subject, report: Report) -> None:
    package = subject.package
    # a manifest that could not be read was reported
    if package is None or package.source is None or not subject.is_cinatra:
        return
    stated = package.manifest.get("license")
    if isinstance(stated, str) and stated.strip():
        return
    if package.source.value is not package.manifest:
        return  # OAS248: package.json is no object
    slip = next((key for key, meant in misspelt_members(package).items() if meant == "license"), "")
    at = slip or ("license" if "license" in package.manifest else "")
    report(
        "the package names no license",
        package.place(f"/{at}" if at else ""),
        file=package.manifest_file,
        hint=f'"{slip[:80]}" is read by nobody: did you mean "license"?'
        if slip
        else 'add "license": "Apache-2.0", or whatever it is',
    )

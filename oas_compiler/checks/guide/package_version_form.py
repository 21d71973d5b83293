"""The version in package.json has three numbers, as npm requires.

"version": "1.0"              ->   OAS198 write "1.0.0"
"packageVersion": 1           ->   OAS198 in the flow
"version": "1.0.0-rc.1"       ->   fine

A package without a version is OAS170 or OAS163.
"""

from __future__ import annotations

import re
from typing import Final

from oas_compiler.checks.context.context_package_version import lacks_slot_version
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.package.dependencies import is_version

_NUMBERS: Final = re.compile(r"v?([0-9]{1,9})(?:\.([0-9]{1,9}))?", re.ASCII)


@rule(
    code="OAS198",
    name="package-version-form",
    severity="error",
    summary="The version of a package is no version: no range of a parent could admit it.",
    fix='Write three numbers: "1.0.0".',
    source="agent guide, rule 1; Cinatra P1",
    needs="package",
    also=("P1", "package_version_oas_pkg_drift", "guide-rule-1"),
    bad='package.json: "version": "1.0"',
    good='package.json: "version": "1.0.0"',
)
def package_version_form(subject: Subject, report: Report) -> None:
    package, root = subject.agent, subject.root
    if package is None:
        return
    version = package.manifest.get("version")
    # a package with context slots needs a version at all: OAS163
    if _is_wrong(version) and (isinstance(version, str) or not lacks_slot_version(subject)):
        report(
            f"the version in package.json is {_format_version(version)}, which is no version",
            package.place("/version"),
            hint=_format_hint(version),
            file=package.manifest_file,
        )
    claimed = root.cinatra.get("packageVersion") if root is not None else None
    # an invalid text either differs from package.json (OAS126) or repeats it
    decided = isinstance(claimed, str) and version is not None
    if root is not None and not decided and _is_wrong(claimed):
        report(
            f"the packageVersion of {root.label} is {_format_version(claimed)}, which is no version",
            subject.place(root.at("metadata", "cinatra", "packageVersion")),
            hint=_format_hint(version if is_version(version) else claimed),
        )


def _is_wrong(version: JsonValue) -> bool:
    """Whether a value is given that is no version."""
    if version is None or (isinstance(version, str) and not version.strip()):
        return False
    return not is_version(version)


def _format_version(version: JsonValue) -> str:
    return f'"{version[:80]}"' if isinstance(version, str) else describe(version)


def _format_hint(version: JsonValue) -> str:
    """The same numbers, filled up to three."""
    if is_version(version):
        return f'write "{version}"'
    is_number = isinstance(version, (int, float)) and not isinstance(version, bool)
    text = str(version) if is_number or isinstance(version, str) else ""
    numbers = _NUMBERS.fullmatch(text.strip()[:40])
    return f'write "{numbers[1]}.{numbers[2] or 0}.0"' if numbers else 'write it as "1.0.0"'

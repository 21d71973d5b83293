"""A package that others install has a name and a version.

package.json {"name": "@x/mail-agent"}                       ->   OAS170: no version
package.json {"name": "@x/mail-agent", "version": "1.0.0"}   ->   fine; the flow's metadata counts too
"""

from __future__ import annotations

from oas_compiler.checks.context.context_package_version import lacks_slot_version
from oas_compiler.checks.lookup.value_flaws import misspelt_members
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS170",
    name="package-name-and-version",
    severity="warning",
    summary="Neither package.json nor the flow says what the package is called, or its version.",
    fix='Give package.json a "name" and a "version".',
    source="agent guide, rule 1",
    needs="package",
    aliases=("guide-rule-1",),
    bad='{"name": "@acme/mail-agent", "cinatra": {"kind": "agent"}}',
    good='{"name": "@acme/mail-agent", "version": "1.0.0", "cinatra": {"kind": "agent"}}',
)
def package_name_and_version(subject: Subject, report: Report) -> None:
    package = subject.agent
    # an unreadable package.json was reported; its values are unknown
    if package is None or package.source is None:
        return
    about = subject.root.cinatra if subject.root is not None else {}
    pairs = (
        ("name", "packageName", "an orchestrator cannot find the agent"),
        ("version", "packageVersion", "nobody can ask for a range of it"),
    )
    for key, in_flow, why in pairs:
        stated = package.manifest.get(key)
        is_there = _is_there(stated) if key == "version" else _is_text(stated)
        if is_there or _is_text(about.get(in_flow)) or key in misspelt_members(package).values():
            continue
        if key == "version" and lacks_slot_version(subject):
            continue  # OAS163, an error
        pointer = f"/{key}" if key in package.manifest else ""
        report(
            f"the package has no {key}: {why}",
            package.place(pointer),
            hint=f'write "{key}": "…" into package.json',
            file=package.manifest_file,
        )


def _is_there(value: object) -> bool:
    """Whether a value is given; a value that is no text has another rule (OAS198 for a version)."""
    return value is not None and (not isinstance(value, str) or bool(value.strip()))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())

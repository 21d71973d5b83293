"""agentDependencies maps the name of each child agent to a version range.

"agentDependencies": ["@x/mail-agent"]              ->   OAS188
"agentDependencies": {"@x/mail-agent": "latest"}    ->   OAS188: a range is "^1.2.0"
"agentDependencies": {"@x/mail-agent": "^1.2.0"}    ->   fine
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.package.dependencies import LIST, MAP, refusal, wanted
from oas_compiler.package.package import Package
from oas_compiler.text.marks import child

_NAME: Final = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
_MOST: Final = 1_000
"""Entries that are checked, because reading a range is slow."""


@rule(
    code="OAS188",
    name="agent-dependencies-form",
    severity="error",
    summary="agentDependencies is not an object of package names and version ranges.",
    fix='Write {"@scope/child-agent": "^1.2.0"}.',
    source="agent guide, rule 11",
    needs="package",
    aliases=("guide-rule-11-form",),
    also=("guide-rule-11",),
    bad='"agentDependencies": ["@acme/mail-agent"]',
    good='"agentDependencies": {"@acme/mail-agent": "^1.2.0"}',
)
def agent_dependencies_form(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None:
        return
    declared = package.cinatra.get("agentDependencies")
    if declared is not None and not isinstance(declared, dict):
        report(
            f"agentDependencies is {_describe_kind(declared)}, not an object of names and version ranges",
            package.place(MAP),
            hint=_as_object(declared),
            file=package.manifest_file,
        )
    listed = package.cinatra.get("dependencies")
    if listed is not None and not isinstance(listed, list):
        report(
            f"cinatra.dependencies is {_describe_kind(listed)}, not a list of dependencies",
            package.place(LIST),
            hint="a map of names and ranges belongs under agentDependencies",
            file=package.manifest_file,
        )
    for name in islice(declared if isinstance(declared, dict) else (), _MOST):
        if not _NAME.fullmatch(name):
            report(
                f'agentDependencies: "{name[:120]}" is no package name',
                package.place(child(MAP, name)),
                hint=_format_version_hint(name),
                file=package.manifest_file,
            )
    _look_at_ranges(package, report)


def _look_at_ranges(package: Package, report: Report) -> None:
    for one in islice(wanted(package.cinatra), _MOST):
        problem = refusal(one.range)
        if problem:
            shown = f'"{one.text[:80]}" ' if one.text else ""
            report(
                f'the version range {shown}of "{one.name[:120]}" is {problem}',
                package.place(one.pointer),
                hint='write a range such as "^1.2.0"',
                file=package.manifest_file,
            )


def _describe_kind(value: JsonValue) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a boolean"}
    return kinds.get(type(value), "a number")


def _as_object(value: JsonValue) -> str:
    """The first names of a list as they should be written."""
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    name = names[0] if names else "@scope/child-agent"
    at = name.rfind("@")
    bare, version = (name[:at], name[at + 1 :]) if at > 0 else (name, "^1.0.0")
    return f'write {{"{bare[:80]}": "{version[:40]}"}}'


def _format_version_hint(name: str) -> str:
    at = name.rfind("@")
    return (
        f'write the version as the value: "{name[:at][:80]}": "{name[at + 1 :][:40]}"'
        if at > 0
        else ""
    )

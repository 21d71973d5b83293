"""The host takes one version of Agent Spec, this compiler a range.

"agentspec_version": "25.4.1"   ->   OAS100; an unreadable version is OAS025 already
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import Unread
from oas_compiler.findings.rule import Report, rule

HOST_VERSION = "26.1.0"


@rule(
    code="OAS100",
    name="host-version",
    severity="error",
    summary="A Cinatra file is written for another Agent Spec version than the host takes.",
    fix=f'Write "agentspec_version": "{HOST_VERSION}" at the top, and check what changed between the two.',
    source="Cinatra S1",
    needs="cinatra",
    aliases=("S1",),
    bad='{"agentspec_version": "25.4.1", "component_type": "Flow", …}',
    good='{"agentspec_version": "26.1.0", "component_type": "Flow", …}',
)
def host_version(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None:
        return
    owner = subject.document.top.value
    if not isinstance(owner, dict) or "agentspec_version" not in owner:
        owner = root.value
    version = owner.get("agentspec_version")
    pointer = root.at("agentspec_version") if owner is root.value else "/agentspec_version"
    if version is None:
        report(
            f'the file has no agentspec_version; the host takes "{HOST_VERSION}" only',
            subject.place(pointer.rpartition("/")[0]),
        )
    elif version != HOST_VERSION and pointer not in subject.unread(Unread.VERSION):
        report(
            f'the host takes Agent Spec "{HOST_VERSION}" only, this file is written for "{version}"',
            subject.place(pointer),
            hint="it compiles here, where a range of versions is read, but the host refuses it",
        )

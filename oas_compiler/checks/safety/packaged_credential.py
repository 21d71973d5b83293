"""No credential of a well-known shape is packed with the agent: package.json, scripts, skills.

    scripts/send.py: TOKEN = "ghp_…"     ->  OAS206 at its line
    scripts/send.py: TOKEN = os.environ["TOKEN"]

Tests of the package are left out: they hold made-up ones.
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.credentials import known_credential
from oas_compiler.checks.subject import Subject
from oas_compiler.ir import Place
from oas_compiler.package import MANIFEST
from oas_compiler.rules import Report, rule

MAX_TEXT: Final = 8 * 1024 * 1024
"""Characters of a package that are looked through."""
_TESTS: Final = frozenset({"test", "tests", "__tests__", "fixtures"})


@rule(
    code="OAS206",
    name="packaged-credential",
    severity="error",
    summary="A file of the package holds a credential of a well-known shape.",
    fix="Remove it, make it invalid where it was issued, and let the platform authenticate.",
    source="agent guide (seed 003): credentials are never stored in an agent",
    needs="package",
    conceals=True,
    bad=('# scripts/send.sh\ncurl -H "Authorization: Bearer ghp_…"'),
    good=("# SKILL.md\nCall the MCP tool gmail_send; the platform authenticates it."),
)
def packaged_credential(subject: Subject, report: Report) -> None:
    package = subject.package
    if package is None:
        return
    own = subject.document.source.file
    left = MAX_TEXT
    for file in package.files:
        if left <= 0:
            return
        # the flow file itself is read by OAS204 and OAS205
        if _is_test(file) or package.name_of(file) == own:
            continue
        text = package.text(file)
        if text is None:
            continue
        left -= len(text)
        kind, start = known_credential(text)
        if kind:
            what = "package.json" if file == MANIFEST else file
            report(
                f"{what[:200]} holds {kind}, written out",
                _place(text, start),
                hint="remove it and make it invalid; the platform authenticates the calls of an agent",
                file=package.name_of(file),
            )


def _is_test(file: str) -> bool:
    *folders, name = file.split("/")
    return not _TESTS.isdisjoint(folders) or ".test." in name or name.startswith("test_")


def _place(text: str, start: int) -> Place:
    line_start = text.rfind("\n", 0, start) + 1
    return Place("", text.count("\n", 0, start) + 1, start - line_start + 1)

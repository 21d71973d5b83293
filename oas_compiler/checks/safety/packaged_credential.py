"""No credential of a well-known shape is packed with the agent: package.json, scripts, .env.

    scripts/send.py: TOKEN = "ghp_…"     ->  OAS206 at its line
    scripts/send.py: TOKEN = os.environ["TOKEN"]

Hidden files like `.env` are searched, even if they are not UTF-8.  Tests of the package are left
out, because they hold made-up credentials.  Files beyond the limits are OAS215.
"""

from __future__ import annotations

from oas_compiler.checks.credentials.value_shapes import known_credential
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.text.file_access import MANIFEST, shown_name


@rule(
    code="OAS206",
    name="packaged-credential",
    severity="error",
    summary="A file of the package holds a credential of a well-known shape.",
    fix="Remove it, make it invalid where it was issued, and let the platform authenticate.",
    source="agent guide: credentials are never stored in an agent",
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
    for file, size in package.scan.parts:
        # the flow file itself is read by OAS204 and OAS205
        if package.name_of(file) == own:
            continue
        text = package.part(file, size)
        kind, start = known_credential(text)
        if kind:
            what = "package.json" if file == MANIFEST else file
            report(
                f"{shown(what)} holds {kind}, written out",
                _locate_offset(text, start),
                hint="remove it and make it invalid; the platform authenticates the calls of an agent",
                file=package.name_of(file),
            )


def shown(file: str) -> str:
    """A name as a message shows it; bytes that are no UTF-8 as �, controls as escapes."""
    return shown_name(file[:200].encode("utf-8", "replace").decode("utf-8"))


def _locate_offset(text: str, start: int) -> Place:
    line_start = text.rfind("\n", 0, start) + 1
    return Place("", text.count("\n", 0, start) + 1, start - line_start + 1)

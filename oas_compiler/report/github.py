"""Findings as GitHub workflow commands: a job that prints them gets annotations in the diff.

    ::error file=agents/a.json,line=12,col=5,title=OAS044 one-edge-per-branch::the branch "next" …

GitHub shows the first ten errors and ten warnings of a step; a SARIF upload shows all.
"""

from __future__ import annotations

from collections.abc import Iterable

from oas_compiler.catalog import find
from oas_compiler.findings.finding import Finding
from oas_compiler.report.file_names import path_from_here
from oas_compiler.text.plain_text import plain
from oas_compiler.text.secrets import without_secrets


def github(findings: Iterable[Finding]) -> str:
    """One line for each finding; empty without findings."""
    return "".join(f"{_format_command(finding)}\n" for finding in findings)


def _format_command(finding: Finding) -> str:
    card = find(finding.code)
    properties = {
        "file": path_from_here(finding.file) if finding.file else "",
        "line": str(finding.line or ""),
        "col": str(finding.column or ""),
        "title": f"{finding.code} {card.name}" if card is not None else finding.code,
    }
    listed = ",".join(
        f"{name}={_escape_property(text)}" for name, text in properties.items() if text
    )
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    return f"::{finding.severity} {listed}::{_escape_data(without_secrets(finding.message + hint))}"


def _escape_data(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    # People read logs at terminals, too: no text may contain terminal commands.
    return "".join(
        character if character.isprintable() else " " if character.isspace() else "\ufffd"
        for character in plain(text)
    )


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")

"""Findings as people and as programs read them.

In: `Finding`s.  Out: text with the offending line underlined, or JSON records.

    oas.json:12:17 error OAS031 the gate "confirm" has no …
      12 |       "id": "confirm",
         |       ^^^^
         hint: …
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from rich.cells import cell_len
from rich.text import Text

from oas_compiler.cli.safe import clean
from oas_compiler.diagnostics import Finding

UNREADABLE: Final = ("OAS001", "OAS002", "OAS003", "OAS004")
"""Findings that say that there is no document at all: not found, too large, not UTF-8, not JSON."""
WINDOW: Final = 100
"""Characters of a source line that are shown."""
MAX_SOURCE: Final = 32 * 1024 * 1024
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"]+')


def exit_of_findings(findings: Iterable[Finding]) -> int:
    """0 without errors, 1 with errors, 2 when the document could not be read."""
    errors = [finding.code for finding in findings if finding.severity == "error"]
    if any(code in UNREADABLE for code in errors):
        return 2
    return 1 if errors else 0


def finding_record(finding: Finding) -> dict[str, Any]:
    """One finding as JSON."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
        "file": finding.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "pointer": finding.place.pointer,
    }


def view_of_findings(findings: Iterable[Finding]) -> Text:
    """All findings, each with its line of the file."""
    sources: dict[str, list[str]] = {}
    parts = []
    for finding in findings:
        if finding.file not in sources:
            sources[finding.file] = _lines(finding.file)
        lines = sources[finding.file]
        number = finding.place.line
        line = lines[number - 1] if 0 < number <= len(lines) else None
        parts.append(finding_view(finding, line))
    return Text("\n").join(parts)


def finding_view(finding: Finding, line: str | None) -> Text:
    """One finding; `line` is the line of the file that it points at."""
    colour = "red" if finding.severity == "error" else "yellow"
    view = Text.assemble(
        (clean(finding.where.removesuffix("#")), "bold"),
        " ",
        (finding.severity, f"bold {colour}"),
        f" {finding.code} ",
        clean(finding.message),
    )
    margin = " " * (len(str(finding.place.line)) + 2)
    if line is not None:
        shown, before, under = excerpt(line, finding.place.column)
        view.append(f"\n  {finding.place.line} | {shown}\n{margin} | {before}")
        view.append(under, f"bold {colour}")
    if finding.hint:
        view.append(f"\n{margin}   hint: {clean(finding.hint)}")
    return view


def excerpt(line: str, column: int) -> tuple[str, str, str]:
    """The part of `line` around `column` (1-based), the blanks before the place, the underline."""
    at = min(max(column - 1, 0), len(line))
    token = _TOKEN.match(line, at)
    length = max(1, token.end() - at if token else 1)
    first = 0 if len(line) <= WINDOW else max(0, at - WINDOW // 3)
    shown = _one_to_one(line[first : first + WINDOW])
    left = "…" if first else ""
    right = "…" if first + WINDOW < len(line) else ""
    before = cell_len(left + shown[: at - first])
    under = cell_len(shown[at - first : at - first + length])
    return left + shown + right, " " * before, "^" * max(1, under)


def _one_to_one(text: str) -> str:
    """Safe text in which every character kept its position."""
    return "".join(clean(character) for character in text.rstrip("\r"))


def _lines(file: str) -> list[str]:
    if not file:
        return []
    try:
        with Path(file).open("rb") as stream:
            raw = stream.read(MAX_SOURCE)
    except (OSError, ValueError):
        return []  # the finding itself says what is wrong with the file
    return raw.decode("utf-8-sig", errors="replace").split("\n")

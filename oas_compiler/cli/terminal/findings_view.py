"""Findings as text.  (For programs: `oas_compiler/report/`.)

In: `Finding`s.  Out: text with the offending line underlined.

    oas.json:12:17 error OAS031 the gate "confirm" has no …  [gate-without-policy]
      12 |       "id": "confirm",
         |       ^^^^
         hint: …
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from oas_compiler.catalog import find
from oas_compiler.cli.terminal.layout import Lines, unbroken
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.findings.finding import Finding
from oas_compiler.report.source_text import SourceTexts, width
from oas_compiler.text.safe_text import without_secrets

UNREADABLE: Final = ("OAS001", "OAS002", "OAS003", "OAS004")
"""Codes of findings about a missing document: not found, too large, not UTF-8, not JSON."""
WINDOW: Final = 100
"""Characters of a source line that are shown."""


def exit_of_findings(findings: Iterable[Finding]) -> int:
    """0 without errors, 1 with errors, 2 when the document could not be read."""
    errors = [finding.code for finding in findings if finding.severity == "error"]
    if any(code in UNREADABLE for code in errors):
        return 2
    return 1 if errors else 0


def view_of_findings(findings: Iterable[Finding], *, known: Iterable[Finding] = ()) -> Lines:
    """All findings, each with its line of the file.

    `known`: findings that are not shown, but that also tell which values are secret.
    """
    listed = list(findings)
    texts = SourceTexts([*listed, *known])
    views = (finding_lines(finding, texts.line(finding)) for finding in listed)
    return Lines([line for view in views for line in view])


def finding_lines(finding: Finding, line: str | None) -> list[Text]:
    """One finding; `line` is its line in the file, with credentials starred."""
    colour = "red" if finding.severity == "error" else "yellow"
    card = find(finding.code)
    heading = Text.assemble(
        (clean(without_secrets(finding.where.removesuffix("#"))), "bold"),
        " ",
        (finding.severity, f"bold {colour}"),
        f" {finding.code} ",
        clean(without_secrets(finding.message)),
        (f"  [{card.name}]" if card is not None else "", "dim"),
    )
    margin = " " * (len(str(finding.place.line)) + 2)
    lines = [heading]
    if line is not None:
        shown, before, under = excerpt(line, finding.place.column)
        lines.append(unbroken(Text(f"  {finding.place.line} | {shown}")))
        lines.append(unbroken(Text.assemble(f"{margin} | {before}", (under, f"bold {colour}"))))
    if finding.hint:
        lines.append(Text(f"{margin}   hint: {clean(without_secrets(finding.hint))}"))
    return lines


def excerpt(line: str, column: int) -> tuple[str, str, str]:
    """The part of `line` around `column` (1-based), the blanks before the place, the underline."""
    at = min(max(column - 1, 0), len(line))
    length = width(line, at + 1)
    first = 0 if len(line) <= WINDOW else max(0, at - WINDOW // 3)
    shown = _one_to_one(line[first : first + WINDOW])
    left = "…" if first else ""
    right = "…" if first + WINDOW < len(line) else ""
    before = cell_len(left + shown[: at - first])
    under = cell_len(shown[at - first : at - first + length])
    return left + shown + right, " " * before, "^" * max(1, under)


def _one_to_one(text: str) -> str:
    """Safe text in which every character keeps its position."""
    return "".join(clean(character) for character in text.rstrip("\r"))

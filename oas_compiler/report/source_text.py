"""The lines that findings point at, read from the files that they name.

texts = SourceTexts(findings)
texts.line(finding)        ->  '      "component_type": "EnNode",'      credentials starred
width(line, column=7)      ->  16                                       "component_type"
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from oas_compiler.findings.finding import Finding
from oas_compiler.report.masking import masked
from oas_compiler.text.files import read_shown
from oas_compiler.text.secrets import without_secrets

MAX_SOURCE: Final = 32 * 1024 * 1024
"""Bytes of a file that are read; no larger file can be checked."""
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:\[\]{}"]+')


class SourceTexts:
    """The texts of all files of a report, each read once."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            self._findings[finding.file].append(finding)
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        self._shown: dict[tuple[str, int], str] = {}

    def text(self, file: str) -> str:
        """The whole unmasked text; empty where it cannot be read."""
        if file not in self._texts:
            self._texts[file] = _read_file_text(file)
        return self._texts[file]

    def line(self, finding: Finding) -> str | None:
        """The line of the finding, safe to show; `None` without a line."""
        if finding.file not in self._lines:
            whole = masked(self.text(finding.file), self._findings[finding.file])
            self._lines[finding.file] = whole.split("\n") if whole else []
        lines = self._lines[finding.file]
        if not 0 < finding.line <= len(lines):
            return None
        place = (finding.file, finding.line)
        if place not in self._shown:
            # Mask the whole line before shortening it: half of a credential is not recognised.
            self._shown[place] = without_secrets(lines[finding.line - 1])
        return self._shown[place]


def width(line: str, column: int) -> int:
    """Characters of the word, number or quoted text at `column` (1-based); at least 1."""
    found = _TOKEN.match(line, column - 1)
    return found.end() - found.start() if found else 1


def _read_file_text(file: str) -> str:
    if not file:
        return ""
    try:
        raw = read_shown(file, MAX_SOURCE)
    except (OSError, ValueError):
        return ""  # the finding itself reports the problem of the file
    return raw.decode("utf-8-sig", errors="replace")

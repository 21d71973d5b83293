"""A change of a file as a unified diff for people: credentials starred, line ends left out.

--- agents/a/oas.json
+++ agents/a/oas.json, mended
@@ -3,4 +3,3 @@
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from oas_compiler.edit.fix.planning import FileChange
from oas_compiler.findings.finding import Finding
from oas_compiler.report.masking import masked
from oas_compiler.text.secrets import without_secrets


def unified(change: FileChange, before: Iterable[Finding], after: Iterable[Finding]) -> list[str]:
    """The lines of the diff; the findings of both states tell which values are secret."""
    return list(
        difflib.unified_diff(
            _split_safe_lines(change.before, change.file, before),
            _split_safe_lines(change.after, change.file, after),
            change.file,
            change.file,
            lineterm="",
        )
    )


def _split_safe_lines(raw: bytes, file: str, findings: Iterable[Finding]) -> list[str]:
    text = raw.decode("utf-8-sig", errors="replace")
    safe = masked(text, [finding for finding in findings if finding.file == file])
    return [without_secrets(line.removesuffix("\r")) for line in safe.split("\n")]

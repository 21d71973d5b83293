"""All findings of one run as hosts read them, and the exception that carries them.

Error tree
    CompileError            the only exception type that leaves the compiler
        .diagnostics        every finding of the run, in file order
"""

from __future__ import annotations

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue


class Diagnostics(Findings):
    """The findings of one run over one file."""

    def to_json(self) -> dict[str, JsonValue]:
        """`{"errors": 1, "warnings": 0, "findings": [{"code": …, "line": …}]}`, ready for JSON."""
        from oas_compiler.report.json_report import json_report

        return json_report(self.findings)

    def to_sarif(self) -> dict[str, JsonValue]:
        """The findings as a SARIF 2.1.0 log, ready for JSON."""
        from oas_compiler.report.sarif import sarif  # it loads every rule card

        return sarif(self.findings)


class CompileError(ValueError):
    """The flow cannot be compiled; `diagnostics` holds every finding."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        from cinatra_sdk.text.counting import say_number  # for errors only

        self.diagnostics = diagnostics
        errors = diagnostics.errors
        first = "\n".join(str(finding) for finding in errors[:20])
        more = f"\n… and {len(errors) - 20} more" if len(errors) > 20 else ""
        super().__init__(f"{say_number(len(errors), 'error')}\n{first}{more}")

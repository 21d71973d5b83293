"""Findings as JSON: `oasflow check --json`, `Diagnostics.to_json()`.

{"errors": 1, "warnings": 0, "findings": [{"code": "OAS026", "line": 272, "column": 7, …}]}
"""

from __future__ import annotations

from collections.abc import Sequence

from oas_compiler.catalog import find
from oas_compiler.findings.finding import Finding
from oas_compiler.ir import JsonValue
from oas_compiler.text.secrets import pointer_without_secrets, without_secrets


def json_report(findings: Sequence[Finding]) -> dict[str, JsonValue]:
    """Counts and records of the findings."""
    return {**counts(findings), "findings": [record(finding) for finding in findings]}


def counts(findings: Sequence[Finding]) -> dict[str, JsonValue]:
    """`{"errors": 1, "warnings": 0}`."""
    errors = sum(finding.severity == "error" for finding in findings)
    return {"errors": errors, "warnings": len(findings) - errors}


def record(finding: Finding) -> dict[str, JsonValue]:
    """One finding; texts contain no credentials, but are not made safe for a terminal."""
    card = find(finding.code)
    aliases: list[JsonValue] = list(card.aliases) if card is not None else []
    return {
        "code": finding.code,
        "rule": card.name if card is not None else "",
        "severity": finding.severity,
        "message": without_secrets(finding.message),
        "hint": without_secrets(finding.hint),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "pointer": pointer_without_secrets(finding.pointer),
        "aliases": aliases,
        "fixable": is_fixable(finding),
    }


def is_fixable(finding: Finding) -> bool:
    """Whether `--fix` may be able to fix the finding."""
    return bool(finding.fix)

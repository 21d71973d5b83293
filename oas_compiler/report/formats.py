"""Findings as JSON: `oasflow check --json`, `Diagnostics.to_json()`.

{"errors": 1, "warnings": 0, "findings": [{"code": "OAS026", "line": 272, "column": 7, …}]}
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from oas_compiler.catalog import find
from oas_compiler.findings.finding import Finding, Severity
from oas_compiler.findings.rule import Rule
from oas_compiler.ir import JsonValue
from oas_compiler.report.source_text import SourceTexts, path_from_here, uri, width
from oas_compiler.text.safe_text import plain, pointer_without_secrets, without_secrets
from oas_compiler.text_edits.editable_text import rewriting_of
from oas_compiler.text_edits.json_edits import AnyRewriting, CannotEdit, Replacement


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


# ----------------------------------------------------------------------------
# Findings as SARIF 2.1.0, the format that code scanning and editors read.
#
#     sarif(findings)  ->  {"version": "2.1.0", "runs": [{"tool": …, "columnKind": …, "results": […]}]}
#
# Columns count Unicode code points, as everywhere here, and the log says so (`columnKind`).  A
# fingerprint is made of the rule, the JSON Pointer and the file, so that a result keeps its identity
# when its line moves.  Files are named relative to the working directory.


SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT: Final = "rulePointerFile/v1"
Node = dict[str, JsonValue]


def sarif(findings: Sequence[Finding]) -> Node:
    """The log of one run; reads the files that the findings name, for the ends of regions."""
    codes = sorted({finding.code: finding.severity for finding in findings}.items())
    rules: list[JsonValue] = [_describe_rule(code, severity) for code, severity in codes]
    results = _Results(findings, {code: index for index, (code, _) in enumerate(codes)})
    driver: Node = {"name": "oasflow", "rules": rules}
    number = _find_tool_version()
    if number:
        driver["version"] = number
    run: Node = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [results.result(finding) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


_ESCAPED: Final = str.maketrans({"\\": r"\\", "[": r"\[", "]": r"\]", "{": "{{", "}": "}}"})
"""Characters to escape: unescaped, `[text](address)` is a link and `{0}` is replaced (SARIF 3.11.5
and 3.11.6).
"""


def _escape_message(text: str) -> str:
    """A plain text message that shows exactly `text`."""
    return plain(without_secrets(text)).translate(_ESCAPED)


@cache
def _find_tool_version() -> str:
    try:
        return version("oasflow")
    except PackageNotFoundError:  # run from a folder without installation
        return ""


def _describe_rule(code: str, severity: Severity) -> Node:
    card = find(code)
    if card is None:
        return {"id": code, "defaultConfiguration": {"level": severity}}
    return {
        "id": code,
        "name": card.name,
        "shortDescription": {"text": card.summary},
        "fullDescription": {"text": f"{card.summary} {card.fix}"},
        "help": {"text": _format_help(card), "markdown": _help_in_markdown(card)},
        "defaultConfiguration": {"level": severity},
        "properties": {"aliases": list(card.aliases), "source": card.source},
    }


def _format_help(card: Rule) -> str:
    parts = [card.fix, f"Source: {card.source}."]
    parts += [
        f"{title}:\n{text}" for title, text in (("Bad", card.bad), ("Good", card.good)) if text
    ]
    return "\n\n".join(parts)


def _help_in_markdown(card: Rule) -> str:
    parts = [card.fix, f"Source: {card.source}."]
    parts += [
        f"{title}:\n\n```\n{text}\n```"
        for title, text in (("Bad", card.bad), ("Good", card.good))
        if text
    ]
    return "\n\n".join(parts)


class _Results:
    """Makes results; knows the texts of the files."""

    def __init__(self, findings: Sequence[Finding], rules: dict[str, int]) -> None:
        self._rules = rules
        self._texts = SourceTexts(findings)
        self._rewritings: dict[str, AnyRewriting | None] = {}
        self._starts: dict[str, list[int]] = {}
        self._seen: Counter[str] = Counter()

    def result(self, finding: Finding) -> Node:
        hint = f"\nhint: {finding.hint}" if finding.hint else ""
        found: Node = {
            "ruleId": finding.code,
            "ruleIndex": self._rules[finding.code],
            "level": finding.severity,
            "message": {"text": _escape_message(finding.message + hint)},
            "locations": [self._build_location(finding)],
            "partialFingerprints": {FINGERPRINT: self._make_fingerprint(finding)},
        }
        fix = self._build_fix(finding)
        if fix is not None:
            found["fixes"] = [fix]
        return found

    def _build_location(self, finding: Finding) -> Node:
        name = pointer_without_secrets(finding.pointer)
        location: Node = {"logicalLocations": [{"fullyQualifiedName": name, "kind": "value"}]}
        if finding.file:
            physical: Node = {"artifactLocation": {"uri": uri(finding.file)}}
            if finding.line:
                physical["region"] = self._build_region(finding)
            location["physicalLocation"] = physical
        return location

    def _build_region(self, finding: Finding) -> Node:
        region: Node = {"startLine": finding.line}
        if finding.column:
            region["startColumn"] = finding.column
            line = self._texts.line(finding)
            if line is not None and finding.column <= len(line):
                region["endColumn"] = finding.column + width(line, finding.column)
        return region

    def _make_fingerprint(self, finding: Finding) -> str:
        parts = (finding.code, finding.pointer, uri(finding.file) if finding.file else "")
        key = "\0".join(parts)
        self._seen[key] += 1
        # Several findings of one rule at one place are distinguished by their order.
        text = f"{key}\0{self._seen[key]}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _build_fix(self, finding: Finding) -> Node | None:
        rewriting = self._rewriting(finding.file) if is_fixable(finding) else None
        if rewriting is None:
            return None
        if finding.file not in self._starts:
            self._starts[finding.file] = _line_starts(rewriting.text)
        starts = self._starts[finding.file]
        chosen = rewriting.chosen()
        try:
            chosen.take(finding.fix)
        except CannotEdit:
            return None  # the file changed meanwhile
        there = rewriting.root.find(finding.pointer)
        place = (finding.line, finding.column)
        if (
            finding.line
            and there is not None
            and _find_line_and_column(there.member, starts) != place
        ):
            return None  # as above
        replacements = chosen.replacements()
        if any(without_secrets(one.text) != one.text for one in replacements):
            return None
        changed: list[JsonValue] = [_describe_replacement(one, starts) for one in replacements]
        location: Node = {"uri": uri(finding.file)}
        return {
            "description": {"text": f"Mend {finding.code}"},
            "artifactChanges": [{"artifactLocation": location, "replacements": changed}],
        }

    def _rewriting(self, file: str) -> AnyRewriting | None:
        if file not in self._rewritings:
            try:
                self._rewritings[file] = rewriting_of(self._texts.text(file))
            except (ValueError, IndexError):
                self._rewritings[file] = None  # neither JSON nor YAML any more
        return self._rewritings[file]


def _describe_replacement(one: Replacement, starts: list[int]) -> Node:
    first, last = _find_line_and_column(one.start, starts), _find_line_and_column(one.end, starts)
    return {
        "deletedRegion": {
            "startLine": first[0],
            "startColumn": first[1],
            "endLine": last[0],
            "endColumn": last[1],
        },
        "insertedContent": {"text": one.text},
    }


def _line_starts(text: str) -> list[int]:
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _find_line_and_column(offset: int, starts: list[int]) -> tuple[int, int]:
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


# ----------------------------------------------------------------------------
# Findings as GitHub workflow commands: a job that prints them gets annotations in the diff.
#
#     ::error file=agents/a.json,line=12,col=5,title=OAS044 one-edge-per-branch::the branch "next" …
#
# GitHub shows the first ten errors and ten warnings of a step; a SARIF upload shows all.


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

"""JSON text in, value and positions out.

    '{"a": 1}'            ->  {"a": 1} and the offset of "a"
    '{"a": 1, "a": 2}'    ->  OAS005 at the second "a"

The standard library's decoder decides what is JSON.  Two passes of our own stand around it:
one before, so that deep nesting never reaches a recursive decoder, and one after, for
positions and duplicate keys, which that decoder does not report.
"""

from __future__ import annotations

import json
import re

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.bounds import MAX_DEPTH, MAX_FINDINGS, MAX_VALUES
from oas_compiler.text.json_flaws import flaw_at
from oas_compiler.text.marks import ROOT, Marks

_ESCAPES = re.compile(r"(?:\\.){1,1000}", re.DOTALL)
"""A run of escapes, bounded: a repetition without an end keeps a record of each round."""
# An unterminated string runs to the end of the text, so that no start is tried twice
# (the search would otherwise take quadratic time on text such as "\"\"\"…).
_STRING = r'"[^"]*(?:"|\Z)'
_BRACKET = re.compile(_STRING + r"|[\[\]{}]")
_TOKEN = re.compile(_STRING + r'|[{}\[\],:]|[^\s{}\[\],:"]+')

_LONGEST_INTEGER = 20
"""Characters of -9223372036854775808; longer digits are never decoded (that takes quadratic time)."""
_TOO_LARGE = 2**63


def read_json(text: str, findings: Findings) -> tuple[JsonValue, Marks] | None:
    """Decode `text`; `None` when it is not JSON, with the findings that say why."""
    plain = _blank_escapes(text)
    deep = _first_too_deep(plain)
    if deep is not None:
        place = Marks(text).at(deep)
        findings.error("OAS006", f"the document nests deeper than {MAX_DEPTH} levels", place)
        return None
    try:
        value: JsonValue = json.loads(text, parse_int=_parse_integer)
    except json.JSONDecodeError as error:
        flaw = flaw_at(text, error.pos)
        findings.error("OAS004", f"not JSON: {flaw.says}", Marks(text).at(flaw.at), hint=flaw.hint)
        return None
    marks = Marks(text, root=len(text) - len(text.lstrip(" \t\r\n")))
    if not _fill_marks(text, plain, marks, findings):
        return None
    return value, marks


def _parse_integer(digits: str) -> int:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else _TOO_LARGE


def _blank_escapes(text: str) -> str:
    """The text with every escape as two blanks: a quote ends a string then, and offsets stay."""
    if "\\" not in text:
        return text
    return _ESCAPES.sub(lambda escapes: " " * len(escapes.group()), text)


def _first_too_deep(text: str) -> int | None:
    """Offset of the first bracket beyond the allowed depth; `text` is without escapes."""
    depth = 0
    for match in _BRACKET.finditer(text):
        bracket = text[match.start()]
        if bracket in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return match.start()
        elif bracket in "]}":
            depth -= 1
    return None


def _fill_marks(text: str, plain: str, marks: Marks, findings: Findings) -> bool:  # noqa: C901, PLR0912 - one loop
    """Fill `marks` from text that is known to be JSON; False when keys repeat or values abound.

    plain: the same text without escapes.
    """
    outer: list[tuple[int, int]] = []
    container, index = ROOT, -1  # index: position in an array, -1 inside an object
    value = ROOT  # number of the member whose value comes next
    key_next = False
    count = 0
    for match in _TOKEN.finditer(plain):
        token = match.group()
        first = token[0]
        if first == ",":
            if index >= 0:
                index += 1
            else:
                key_next = True
        elif first == ":":
            pass
        elif first in "}]":
            container, index = outer.pop()
            key_next = False
        elif key_next:
            written = text[match.start() : match.end()]
            key = written[1:-1] if "\\" not in written else str(json.loads(written))
            if marks.has(container, key):
                _report_duplicate_key(key, marks, match.start(), findings)
                if len(findings) >= MAX_FINDINGS:
                    return False
            value = marks.add(container, key, match.start())
            key_next = False
        else:
            count += 1
            if outer and index >= 0:
                value = marks.add(container, index, match.start())
            if first in "{[":
                outer.append((container, index))
                container, index = value, 0 if first == "[" else -1
                key_next = first == "{"
        if count > MAX_VALUES:
            findings.error("OAS006", f"the document holds more than {MAX_VALUES:,} values")
            return False
    return not findings.errors


def _report_duplicate_key(key: str, marks: Marks, offset: int, findings: Findings) -> None:
    findings.error(
        "OAS005",
        f'the key "{key[:80]}" stands twice in one object',
        marks.at(offset),
        hint="keep one of the two: readers disagree about which one counts",
    )

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
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.input_bounds import MAX_DEPTH, MAX_FINDINGS, MAX_VALUES
from oas_compiler.text.marks import ROOT, Marks

# ----------------------------------------------------------------------------
# Explains to people why a text is no JSON: the place, the flaw, and the fix.
#
#     {"id": "a" "name": "b"}    ->   JsonFlaw(at=11, says='a comma is missing before "name"', …)
#     {"id": 'a'}                ->   JsonFlaw(at=7, says="a text stands in single quotes", …)
#
# In: a text that the decoder refused, and the offset where it stopped.  Looks at a few hundred
# characters around that offset, whatever the text.


_AROUND: Final = 400
_SPACE: Final = " \t\r\n"
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_INSTEAD: Final = {
    "True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "None": "null",
    "NULL": "null", "Null": "null", "undefined": "null", "nil": "null", "NaN": "null",
}  # fmt: skip
_TOKEN: Final = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|[\[\]{}:,]|[^\s"\[\]{}:,]+')
_CLOSED: Final = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"')
_CONTROLS: Final = frozenset(chr(code) for code in range(32)) - {"\n", "\r"}
_NUMBER: Final = frozenset("0123456789+-.")
_NO_NUMBER: Final = "a number is written in a way that JSON does not have"
_STRAIGHT: Final = "\u201c\u201d\u201e\u2018\u2019"
"""Quotes as a word processor writes them."""


@dataclass(frozen=True, slots=True)
class JsonFlaw:
    """One place where a text stops being JSON."""

    at: int
    """Offset of what is wrong."""
    says: str
    hint: str = ""


def flaw_at(text: str, offset: int) -> JsonFlaw:
    """The flaw where the decoder stopped."""
    here = offset
    while text[here : here + 1] and text[here] in _SPACE:
        here += 1
    state = _State.before(text, here)
    comma = _extra_comma(text, here)
    if comma is not None:
        return comma
    if state.in_text >= 0:
        return _in_a_text(text, offset, state.in_text)
    char = text[here : here + 1]
    if not char:
        return _at_the_end(here, state)
    if char == '"' and not _CLOSED.match(text, here):
        return _in_a_text(text, offset, here)
    if not char.isprintable():
        return JsonFlaw(here, "a control sign stands between the values", "remove it")
    return _find_foreign_syntax(text, here, char, state) or _describe_misplaced_token(
        text, here, char, state
    )


@dataclass(slots=True)
class _State:
    """What stands before an offset, and so what may stand there."""

    open: list[str]
    """The closing brackets that are still due, innermost last."""
    wants: str = "value"
    """`value`, `name`, `colon`, `comma` (or a closing bracket) or `end`."""
    in_text: int = -1
    """Offset of the quote of a text that is still open."""

    @classmethod
    def before(cls, text: str, offset: int) -> _State:
        state = cls([])
        for match in _TOKEN.finditer(text, 0, offset):
            sign = match[0]
            if sign[0] == '"' and (len(sign) == 1 or sign[-1] != '"' or match.end() > offset):
                state.in_text = match.start()
                return state
            state._read_sign(sign)
        return state

    def _read_sign(self, sign: str) -> None:
        if sign in "{[":
            self.open.append("}" if sign == "{" else "]")
            self.wants = "name" if sign == "{" else "value"
        elif sign in "}]":
            if self.open:
                self.open.pop()
            self.wants = "comma" if self.open else "end"
        elif sign == ",":
            self.wants = "name" if self.open[-1:] == ["}"] else "value"
        elif sign == ":":
            self.wants = "value"
        elif self.wants == "name":
            self.wants = "colon"
        else:
            self.wants = "comma" if self.open else "end"


def _extra_comma(text: str, here: int) -> JsonFlaw | None:
    """A comma before a closing bracket; the decoder stops at either of the two."""
    start = here
    while start > 0 and here - start < _AROUND and text[start - 1] in f"{_SPACE}]}}":
        start -= 1
    comma = here if text[here : here + 1] == "," else start - 1
    if comma < 0 or text[comma] != ",":
        return None
    after = text[comma + 1 : comma + _AROUND].lstrip(_SPACE)[:1]
    if after not in {"]", "}"}:
        return None
    return JsonFlaw(comma, "a comma stands after the last entry", "remove the comma")


def _in_a_text(text: str, offset: int, quote: int) -> JsonFlaw:
    if text[offset : offset + 1] in _CONTROLS:
        return JsonFlaw(offset, "a text holds a control sign", "write a tab as \\t")
    end = text.find("\n", quote)
    line = text[quote : end if end >= 0 else len(text)]
    if offset - quote < len(line) and "\\" in text[max(quote, offset - 2) : offset + 1]:
        return JsonFlaw(
            offset, "a backslash stands before a sign that takes none", "write two: \\\\"
        )
    return JsonFlaw(quote, "a text is not closed on its line", 'close it with a ", or write \\n')


def _at_the_end(here: int, state: _State) -> JsonFlaw:
    if not state.open:
        return JsonFlaw(here, "the text ends where a value should stand")
    count = len(state.open)
    what = "a bracket is" if count == 1 else f"{count} brackets are"
    closing = " ".join(reversed(state.open[-8:]))
    return JsonFlaw(here, f"the file ends and {what} still open", f"close with {closing}")


def _find_foreign_syntax(text: str, here: int, char: str, state: _State) -> JsonFlaw | None:
    """What another language allows there."""
    if char == "'":
        return JsonFlaw(here, "a text stands in single quotes", "write it in double quotes")
    if char in _STRAIGHT:
        return JsonFlaw(here, "a text stands in curly quotes", 'write it in straight ones: "')
    if text.startswith(("//", "/*"), here) or char == "#":
        return JsonFlaw(
            here, "a comment stands in the file, and JSON has none", "remove the comment"
        )
    if text.startswith(("<<<<<<<", "=======", ">>>>>>>"), here):
        return JsonFlaw(here, "a merge conflict is not resolved", "take one of the two sides")
    word = _WORD.match(text, here)
    if word is None or state.wants == "colon":
        return None
    name = word[0]
    if name in _INSTEAD:
        return JsonFlaw(here, f"{name} is no word of JSON", f"write {_INSTEAD[name]}")
    if state.wants in {"comma", "end"} and text[max(0, here - 1) : here] == '"':
        return JsonFlaw(here - 1, "a quote ends the text here", 'write \\" for one inside a text')
    # the word itself is not told: it may be a credential
    return JsonFlaw(here, "a word stands without quotes", "write it in double quotes")


def _describe_misplaced_token(text: str, here: int, char: str, state: _State) -> JsonFlaw:
    if state.wants == "end":
        return JsonFlaw(here, "more text stands after the end of the document", "remove it")
    if state.wants == "colon":
        return JsonFlaw(
            here, "a colon is missing between a name and its value", 'write "name": value'
        )
    if char in "]}":
        return _wrong_bracket(here, char, state)
    if state.wants == "comma":
        if char in '"{[':
            name = re.match(r'("[^"\n]{0,40}")\s*:', text[here : here + 60])
            shown = name[1] if name else f"the {char}" if char in "{[" else "this text"
            return JsonFlaw(here, f"a comma is missing before {shown}", "write a comma before it")
        if char in _NUMBER and text[max(0, here - 1) : here] in _NUMBER:
            return JsonFlaw(here - 1, _NO_NUMBER, "as in 5, -1, 0.5")
        return JsonFlaw(here, f"{char} stands where a comma or a bracket should")
    if char == ",":
        if state.open[-1:] == ["}"] and state.wants == "value":
            return JsonFlaw(here, "a value is missing before the comma", 'write a value, or ""')
        return JsonFlaw(here, "a comma stands where an entry should", "remove the comma")
    if char in _NUMBER and state.wants == "value":
        return JsonFlaw(here, _NO_NUMBER, "as in 5, -1, 0.5")
    what = "a name in double quotes" if state.wants == "name" else "a value"
    return JsonFlaw(here, f"{char} stands where {what} should")


def _wrong_bracket(here: int, char: str, state: _State) -> JsonFlaw:
    if state.wants == "value" and state.open[-1:] == ["}"]:
        return JsonFlaw(here, "a value is missing after the colon", 'write a value, or ""')
    if not state.open:
        return JsonFlaw(here, f"{char} closes nothing", "remove it")
    wanted = state.open[-1]
    return JsonFlaw(here, f"{char} stands where {wanted} should", f"close with {wanted} first")


_ESCAPES = re.compile(r"(?:\\.){1,1000}", re.DOTALL)
"""A run of escapes, bounded: a repetition without an end keeps a record of each round."""
# An unterminated string runs to the end of the text, so that no start is tried twice
# (the search would otherwise take quadratic time on text such as "\"\"\"…).
_STRING = r'"[^"]*(?:"|\Z)'
_BRACKET = re.compile(_STRING + r"|[\[\]{}]")
_JSON_TOKEN = re.compile(_STRING + r'|[{}\[\],:]|[^\s{}\[\],:"]+')

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
    for match in _JSON_TOKEN.finditer(plain):
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

"""The text of a file, in which every literal credential is starred, with or without a finding.

    masked('"key": "d41d8cd98f00"', [finding of that place])    ->    '"key": "************"'

Every character keeps its position, so that columns and underlines stay right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Final

from oas_compiler.report.written_secrets import find_written_secrets
from oas_compiler.rewriting.spans import Span, spans
from oas_compiler.text.secrets import kind_of_secret

if TYPE_CHECKING:
    from oas_compiler.findings.finding import Finding

_KEY: Final = re.compile(r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s:"'\n][^:\n]*):(?=\s)""")
"""The key of a YAML mapping."""
_COMMENT: Final = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.MULTILINE)
"""A comment of YAML, or what looks like one in another text."""
_NAME: Final = re.compile(r"""(?<![\w-])(?P<name>[\w-]{5,80})["']?\s*:\s*""")
"""A name and its colon, in a text that may be neither JSON nor YAML."""
_VALUE: Final = re.compile(
    r"""[|>][^\n]*(?:\n[ \t]+[^\n]*)*"""
    r"""|"[^"\\]*(?:\\.[^"\\]*)*"?|'[^']*'?|[^\s"',{}\[\]][^\n,{}\[\]]*""",
    re.DOTALL,
)
_SCHEME: Final = re.compile(r"^(?:bearer|basic|token|apikey|digest)\s+(\S+)$", re.IGNORECASE)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_HEX: Final = re.compile(r"[0-9a-fA-F]{24,}")
_SHORTEST_AGAIN: Final = 8
"""Length from which other occurrences of a value are starred; shorter values occur inside ordinary
words.
"""
_MOST_AGAIN: Final = 200
_FIRST_READ: Final = "OAS010"
"""Findings with smaller codes say that a document could not be read: no rule has checked it."""


def masked(text: str, findings: Iterable[Finding]) -> str:
    """The text of a file, in which every value that is a credential is starred.

    Which values are is read from the text itself, and from the findings of a check.  In an unreadable
    document no rule can find them: every possible credential is starred.
    """
    listed = list(findings)
    secrets = [finding for finding in listed if is_about_a_secret(finding)]
    written = find_written_secrets(text) if text else []
    places = [*(written or ()), *_find_in_comments(text)]
    if secrets:
        root, lines = _find_json_spans(text), _Lines(text)
        places += [_find_secret_range(finding, root, lines) for finding in secrets]
    whole = [*places, *_find_repeated_values(text, places)]
    starred = _star_ranges(text, whole)
    if written is None or _is_half_known(listed, secrets):
        return _without_likely_secrets(starred)
    return starred


def _find_repeated_values(
    text: str, places: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Other places of the same values: a credential in one place is a credential everywhere."""
    written = (text[start:end].strip().strip("\"'") for start, end in places)
    # also without its scheme: `Bearer abc` in a header, `abc` in a body
    values = dict.fromkeys(part for value in written for part in (value, *_SCHEME.findall(value)))
    for value in islice((one for one in values if len(one) >= _SHORTEST_AGAIN), _MOST_AGAIN):
        yield from (found.span() for found in re.finditer(re.escape(value), text))


def _find_in_comments(text: str) -> Iterator[tuple[int, int]]:
    """Credentials in what YAML leaves out, and no document therefore holds."""
    if "#" not in text:
        return
    # imported late: reports have mostly no need of them
    from oas_compiler.checks.subject import Text
    from oas_compiler.checks.written_credentials import find_written

    for comment in _COMMENT.finditer(text):
        for secret in find_written(Text(comment[0], "", ())):
            at = text.find(secret, comment.start(), comment.end())
            if at >= 0:
                yield at, at + len(secret)


def _find_secret_range(finding: Finding, root: Span | None, lines: _Lines) -> tuple[int, int]:
    # A finding without a pointer has a place in a text, not in a document.
    if not finding.pointer:
        return lines.below(finding)
    span = root.find(finding.pointer) if root is not None else None
    if span is not None:
        return span.start, span.end
    return (lines.values or {}).get((finding.line, finding.column)) or lines.below(finding)


def _is_half_known(findings: Sequence[Finding], secrets: Sequence[Finding]) -> bool:
    """Whether the file may contain credentials without a finding."""
    if any(finding.code < _FIRST_READ for finding in findings):
        return True
    from oas_compiler.findings.finding import MAX_PER_CODE  # on first use

    return any(number > MAX_PER_CODE for number in Counter(one.code for one in secrets).values())


def _without_likely_secrets(text: str) -> str:
    """`text` with the values of names like "password" starred, and every word that looks random."""
    # imported late: reports have mostly no need of it
    from oas_compiler.checks.credential_names import is_credential_name

    parts, at = [], 0
    for found in _NAME.finditer(text):
        if found.end() < at or not is_credential_name(found["name"]):
            continue
        value = _VALUE.match(text, found.end())
        if value is not None:
            parts += [text[at : value.start()], _star_value(value[0])]
            at = value.end()
    return _RUN.sub(_without_random, "".join([*parts, text[at:]]))


def _without_random(found: re.Match[str]) -> str:
    from oas_compiler.checks.credentials import credential  # imported late, as above

    word = found[0]
    looks_hex = any(not (one.isdigit() or one.isalpha()) for one in _HEX.findall(word))
    return _star_value(word) if looks_hex or credential(word) else word


def _find_json_spans(text: str) -> Span | None:
    try:
        return spans(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, IndexError):
        return None  # YAML in brackets, or a file that changed meanwhile


def is_about_a_secret(finding: Finding) -> bool:
    """Whether the value that a finding points at must not be shown."""
    # imported late: the catalog loads every rule, and most reports have no need of it
    from oas_compiler.catalog import find

    card = find(finding.code)
    return card is not None and card.conceals


class _Lines:
    """A text that is no JSON: indentation shows where the value at a place ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    @cached_property
    def values(self) -> dict[tuple[int, int], tuple[int, int]] | None:
        """The positions of all values of a YAML document."""
        from oas_compiler.rewriting.yaml_places import values_of  # on first use

        return values_of(self._text)

    def below(self, finding: Finding) -> tuple[int, int]:
        """The text from the key at the place to the first line that is not indented deeper."""
        number, depth = finding.line - 1, max(finding.column - 1, 0)
        if not 0 <= number < len(self._lines):
            return 0, 0
        start = self._starts[number] + min(depth, len(self._lines[number]))
        key = _KEY.match(self._text, start)
        last = number + 1
        while last < len(self._lines) and self._is_inside(self._lines[last], depth):
            last += 1
        return (key.end() if key else start), min(self._starts[last], len(self._text))

    @staticmethod
    def _is_inside(line: str, depth: int) -> bool:
        return not line.strip() or len(line) - len(line.lstrip(" ")) > depth


def _star_ranges(text: str, places: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(places):
        if end <= at:
            continue
        first = max(start, at)
        parts += [text[at:first], _star_value(text[first:end])]
        at = end
    return "".join([*parts, text[at:]])


def _star_value(value: str) -> str:
    """Stars for everything but blanks, the quotes around it and the kind of the credential."""
    shown = kind_of_secret(value)
    quoted = value[:1] in {'"', "'"} and value[-1:] == value[:1]
    ends = {0, len(value) - 1} if quoted else set()
    return "".join(
        character if index in shown or index in ends or character.isspace() else "*"
        for index, character in enumerate(value)
    )

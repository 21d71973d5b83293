"""A literal credential as its kind and stars, in everything that a report shows.

    without_secrets('"key": "sk-live0123456789abcdef"')    ->    '"key": "sk-********************"'

Every character keeps its position, so that columns and underlines stay right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from oas_compiler.diagnostics import Finding
from oas_compiler.fixing.spans import Span, spans

_WORD: Final = r"[A-Za-z0-9_\-./+=]"
_SECRET: Final = re.compile(
    # `sk-` ends ordinary words, too: `task-list-of-the-week` is none.
    rf"(?P<kind>(?<![A-Za-z0-9])sk-(?={_WORD}{{12}})"
    rf"|(?:gh[a-z]_|github_pat_|ya29\.|xox[a-z]-|AKIA|ASIA|eyJ)(?={_WORD}{{8}})){_WORD}+"
)
"""What the credentials of well-known services begin with, and what follows."""
_KEY: Final = re.compile(r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s:"'\n][^:\n]*):(?=\s)""")
"""The key of a YAML mapping."""


def without_secrets(text: str) -> str:
    """`text` with what looks like a well-known credential starred."""
    return _SECRET.sub(lambda found: found["kind"].ljust(len(found[0]), "*"), text)


def masked(text: str, findings: Iterable[Finding]) -> str:
    """The text of a file with every value starred that a finding calls a credential."""
    secrets = [finding for finding in findings if is_about_a_secret(finding)]
    if not secrets:
        return text
    root, lines = _json(text), _Lines(text)
    places = []
    for finding in secrets:
        # Without a pointer it is a place in a text, not the whole document.
        span = root.find(finding.pointer) if root is not None and finding.pointer else None
        places.append((span.start, span.end) if span is not None else lines.below(finding))
    return _starred(text, places)


def _json(text: str) -> Span | None:
    try:
        return spans(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, IndexError):
        return None  # the file became another one in between


def is_about_a_secret(finding: Finding) -> bool:
    """Whether the value that a finding points at must not be shown."""
    # imported late: the catalog loads every rule, and most reports have no need of it
    from oas_compiler.catalog import find

    card = find(finding.code)
    return card is not None and card.conceals


class _Lines:
    """A text that is no JSON: what a place in it may reach to follows from indentation."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    def below(self, finding: Finding) -> tuple[int, int]:
        """From behind the key at the place to the first line that is not further in."""
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


def _starred(text: str, places: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(places):
        if end <= at:
            continue
        first = max(start, at)
        parts += [text[at:first], _stars(text[first:end])]
        at = end
    return "".join([*parts, text[at:]])


def _stars(value: str) -> str:
    """Stars for everything but blanks, the quotes around it and the kind of the credential."""
    secret = _SECRET.search(value)
    shown = range(*secret.span("kind")) if secret else range(0)
    quoted = value[:1] in {'"', "'"} and value[-1:] == value[:1]
    ends = {0, len(value) - 1} if quoted else set()
    return "".join(
        character if index in shown or index in ends or character.isspace() else "*"
        for index, character in enumerate(value)
    )

r"""A short text that a regular expression accepts, for the everyday part of the syntax.

In: the `pattern` of a JSON Schema.  Out: texts that probably match, shortest first; the
caller checks them.  Look-arounds and back-references are skipped, so a pattern that needs
them yields texts that do not match, and the caller says so.

    list(matching("^[A-Z]{2}-\d+$", longest=4))  ->  ["AA-0", "AA-00", "AA-0000", …]
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from cinatra_sdk.values.patterns.automaton import automaton_of
from cinatra_sdk.values.patterns.reading import PatternFlawed, read
from cinatra_sdk.values.work import Work

_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\x00"}
_COUNT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")
_GROUP = re.compile(r"\(\?(:|P?<[A-Za-z_]\w*>)")
_LOOK_AROUND = re.compile(r"\(\?(=|!|<=|<!)")
_ANY_ORDER = "a0A-_ .@/:1bB"
"""Tried in this order for a negated class."""
_LONGEST = 20_000
"""Characters of a text that is made up."""


def matching(pattern: str, *, longest: int = 16) -> Iterator[str]:
    """Candidates for `pattern`; open-ended repetitions grow up to about `longest`."""
    seen = set()
    grow = 0
    while grow <= max(longest, 1):
        text = _Reader(pattern, grow).alternatives()
        if text not in seen:
            seen.add(text)
            yield text
        grow = max(1, grow * 2)


@functools.lru_cache(maxsize=1024)
def _first_in(letters: str) -> str:
    """The first of `_ANY_ORDER` that is in a character class."""
    try:
        accepted = automaton_of(read(letters))
    except PatternFlawed:
        return ""
    if accepted is None:
        return ""
    return next((letter for letter in _ANY_ORDER if accepted.finds(letter, Work(1_000))), "")


class _Reader:
    """Reads the pattern once, from left to right, and writes a matching text."""

    def __init__(self, pattern: str, grow: int) -> None:
        self._pattern = pattern
        self._at = 0
        self._grow = grow

    def _take_letter(self) -> str:
        letter = self._pattern[self._at : self._at + 1]
        self._at += 1
        return letter

    def _is_next(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def alternatives(self) -> str:
        """The first alternative; the others are read over."""
        first = self._sample_sequence()
        while self._is_next("|"):
            self._at += 1
            self._sample_sequence()
        return first

    def _sample_sequence(self) -> str:
        text = ""
        while self._at < len(self._pattern) and not self._is_next("|") and not self._is_next(")"):
            atom = self._sample_atom()
            least, most = self._read_repetition()
            turns = min(least + (self._grow if most is None else 0), 1000)
            # Repetitions of repetitions multiply: what is too long to be made up is cut.
            text += (atom * min(turns, _LONGEST // max(len(atom), 1) + 1))[: _LONGEST - len(text)]
        return text

    def _sample_atom(self) -> str:
        if self._is_next("("):
            return self._group()
        letter = self._take_letter()
        if letter == "[":
            return self._sample_set()
        if letter == "\\":
            return self._sample_escape()
        if letter in "^$":
            return ""
        return "a" if letter == "." else letter

    def _group(self) -> str:
        skipped = _LOOK_AROUND.match(self._pattern, self._at)
        opening = skipped or _GROUP.match(self._pattern, self._at)
        self._at = opening.end() if opening else self._at + 1
        inner = self.alternatives()
        self._at += 1
        return "" if skipped else inner

    def _sample_escape(self) -> str:
        letter = self._take_letter()
        if letter == "u":
            digits = self._pattern[self._at : self._at + 4]
            self._at += 4
            return chr(int(digits, 16)) if re.fullmatch("[0-9A-Fa-f]{4}", digits) else ""
        if letter in "bBAZ":
            return ""
        return _CLASSES.get(letter) or _CONTROLS.get(letter) or letter

    def _sample_set(self) -> str:
        """One member of a character class."""
        begin = self._at
        negated = self._is_next("^")
        if negated:
            self._at += 1
        first = ""
        while self._at < len(self._pattern) and (
            self._at == begin + negated or not self._is_next("]")
        ):
            letter = self._take_letter()
            member = self._sample_escape() if letter == "\\" else letter
            first = first or member
        body = self._pattern[begin : self._at]
        self._at += 1
        if not negated:
            return first
        return _first_in(f"[{body}]")

    def _read_repetition(self) -> tuple[int, int | None]:
        """Least and most repetitions of what was just read; most is `None` when open."""
        least, most = 1, 1
        counted = _COUNT.match(self._pattern, self._at)
        bounds = {"*": 0, "+": 1}
        mark = self._pattern[self._at : self._at + 1]
        open_ended = False
        if counted:
            self._at = counted.end()
            least = int(counted[1])
            open_ended = counted[2] is not None and not counted[3]
        elif mark in bounds and mark:
            self._at += 1
            least, open_ended = bounds[mark], True
        elif mark == "?":
            self._at += 1
            least, most = 0, 1
        else:
            return 1, 1
        if self._is_next("?") or self._is_next("+"):
            self._at += 1
        return least, None if open_ended else most

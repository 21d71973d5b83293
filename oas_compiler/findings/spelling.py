"""`did you mean …?` for a whole run, within bounds.

    nearest("strat", {"start", "end"}, findings)   ->   'did you mean "start"?'

One hint compares the word with every known name.  A document with thousands of wrong names
among thousands of known ones would take minutes, so hints stop when they become expensive:
nobody reads the five-hundredth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Final

from oas_compiler.findings.finding import Findings

LONGEST_COMPARED: Final = 200
"""Characters of a name that is looked for, or offered: comparing takes time by their square."""
_MOST_COMPARED: Final = 4_000
"""Names that one is compared with."""


_BUDGET = 20_000
"""Findings so far, times known names; 400 names still get hints for the first 50 findings."""


def nearest(word: str, known: Collection[str], findings: Findings) -> str:
    """The hint, or an empty string where nothing is near or looking costs too much."""
    if (len(findings) + 1) * len(known) > _BUDGET:
        return ""
    return did_you_mean(word, known)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?` for the nearest known spelling, else an empty string."""
    if len(word) > LONGEST_COMPARED:
        return ""
    names = [name for name in sorted(set(known)) if len(name) <= LONGEST_COMPARED]
    folded = [name for name in names if name.casefold() == word.casefold()]
    close = folded or get_close_matches(word, names[:_MOST_COMPARED], n=1, cutoff=0.6)
    return f'did you mean "{close[0]}"?' if close else ""

"""`did you mean …?` for a whole run, within bounds.

    nearest("strat", {"start", "end"}, findings)   ->   'did you mean "start"?'
    is_slip_of_short("ulr", "url")                 ->   True

One hint compares the word with every known name.  A document with thousands of wrong names
among thousands of known ones would take minutes, so hints stop when they become expensive:
nobody reads the five-hundredth.
"""

from __future__ import annotations

from collections.abc import Collection

from oas_compiler.diagnostics import Diagnostics, did_you_mean

_BUDGET = 20_000
"""Findings so far, times known names; 400 names still get hints for the first 50 findings."""

_JOINTS = {ord(sign): None for sign in " $_-"}
_SHORT = 3, 4
"""Letters of the shortest and of the longest name that counts as short."""


def nearest(word: str, known: Collection[str], findings: Diagnostics) -> str:
    """The hint, or an empty string where nothing is near or looking costs too much."""
    if (len(findings) + 1) * len(known) > _BUDGET:
        return ""
    return did_you_mean(word, known)


def plain(name: str) -> str:
    """A name without what slips are mostly made in: case, blanks, `$`, `_` and `-`."""
    return name.casefold().translate(_JOINTS)


def is_slip_of_short(word: str, known: str) -> bool:
    """Whether a word of two to five letters is a known one of three or four with one slip.

    Likeness says nothing of so few letters, so only these slips count: two letters have changed
    places, one is missing, one was written twice.
    """
    if not _SHORT[0] <= len(known) <= _SHORT[1]:
        return False
    turned = (known[:i] + known[i + 1] + known[i] + known[i + 2 :] for i in range(len(known) - 1))
    dropped = (known[:i] + known[i + 1 :] for i in range(len(known)))
    doubled = (known[: i + 1] + known[i:] for i in range(len(known)))
    return word != known and word in {*turned, *dropped, *doubled}

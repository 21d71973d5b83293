"""Words that messages need: numbers of things, and the known name that is nearest to a wrong one.

say_number(3, "run")                           ->   "3 runs"
say_number(2, "entry", "entries")              ->   "2 entries"
did_you_mean("strat", {"start", "end"})        ->   'did you mean "start"?'
is_slip_of_short("ulr", "url")                 ->   True
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final


def say_number(count: int, one: str, many: str = "") -> str:
    """many: the words for every other number than one; empty takes an s behind `one`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


LONGEST_COMPARED: Final = 200
"""Longest name that is compared: the time grows with the square of the length."""
_MOST_COMPARED: Final = 4_000
"""Known names that a word is compared with."""

_JOINTS = {ord(sign): None for sign in " $_-"}
_SHORT = 3, 4
"""Letters of the shortest and of the longest name that counts as short."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?` for the nearest known spelling, else an empty string."""
    name = nearest_name(word, known)
    return f'did you mean "{name}"?' if name else ""


def nearest_name(word: str, known: Iterable[str]) -> str:
    """The known name that is most similar to a word; empty where no name is near."""
    if len(word) > LONGEST_COMPARED:
        return ""
    names = [name for name in sorted(set(known)) if len(name) <= LONGEST_COMPARED]
    folded = [name for name in names if name.casefold() == word.casefold()]
    close = folded or get_close_matches(word, names[:_MOST_COMPARED], n=1, cutoff=0.6)
    return close[0] if close else ""


def plain(name: str) -> str:
    """A name without its usual places of slips: case, blanks, `$`, `_` and `-`."""
    return name.casefold().translate(_JOINTS)


def is_slip_of_short(word: str, known: str) -> bool:
    """Whether a word of two to five letters is a known word of three or four letters with one slip.

    Similarity means little for so few letters, so only these slips count: two letters have changed
    places, one is missing, one was written twice.
    """
    if not _SHORT[0] <= len(known) <= _SHORT[1]:
        return False
    turned = (known[:i] + known[i + 1] + known[i] + known[i + 2 :] for i in range(len(known) - 1))
    dropped = (known[:i] + known[i + 1 :] for i in range(len(known)))
    doubled = (known[: i + 1] + known[i:] for i in range(len(known)))
    return word != known and word in {*turned, *dropped, *doubled}

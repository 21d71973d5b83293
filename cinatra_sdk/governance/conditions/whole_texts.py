r"""Patterns that hold for the whole of a text, in time that grows with the text only.

    read_pattern(r"[a-z]+@acme[.]example")      ->  an automaton that takes "bob@acme.example", and no
                                                   "bob@acme.example\n", "x bob@acme.example", "BOB@…"

A pattern is one of Python's `re` that no text can hold up: without references back, looks around and flags.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.values.patterns.automaton import Automaton, automaton_of
from cinatra_sdk.values.patterns.reading import PatternFlawed, read

MAX_PATTERN: Final = 500
"""Letters of a pattern."""
MAX_PLACES: Final = 500
"""Places of its automaton: each letter of a text may be compared at all of them."""


def read_pattern(pattern: object) -> Automaton:
    """Raises: `PatternFlawed`, with a reason that ends a sentence about the pattern."""
    if not isinstance(pattern, str):
        raise PatternFlawed("it has to stand there as a text, so that no fact can choose it")
    if len(pattern) > MAX_PATTERN:
        raise PatternFlawed(f"it is longer than {MAX_PATTERN} letters")
    read(pattern)  # by itself: `a)|(?:b` would close the group around it
    made = automaton_of(read(rf"\A(?:{pattern})\Z"))
    if made is None or made.size > MAX_PLACES:
        raise PatternFlawed(
            "it looks around or back, has flags, or writes too much out: "
            "use letters, classes, groups, | and small repetitions"
        )
    return made

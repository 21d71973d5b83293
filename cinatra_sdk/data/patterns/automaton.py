"""Whether a pattern is found in a text, in time that grows with the text only.

    automaton_of(read(r"(a+)+$")).finds("a" * 100_000 + "b", work)   ->  False

Thompson's construction: all ways of matching go on side by side, one character at a time, and the result
for a set of places and a character is remembered.  The verdict is that of Python's `re`; a pattern that
cannot be searched in this way (references back, looking around, other flags) gives `None`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from cinatra_sdk.data.patterns.syntax import OPS, REPEATS, Tree
from cinatra_sdk.data.work_budget import Work

MAX_PLACES: Final = 5_000
"""Places of one automaton: counted repetitions are written out."""
MAX_BUILT: Final = 100_000
"""Parts of patterns, and members of classes, that one automaton is made from."""
MAX_CLASS: Final = 1_000
"""Members of one class: each letter of a text may be compared with all of them."""
_KEPT: Final = 400_000
"""Places in the sets that are kept between searches; then they are forgotten and worked out anew."""
_LETTERS: Final = 4
"""Characters that are read for one step of work."""
_MOST: Final = 1_000
"""Turns of a counted repetition that are written out."""

_DOTALL: Final = 16
_VERBOSE: Final = 64
_UNICODE: Final = 32
_FLAGS: Final = _UNICODE | _VERBOSE | _DOTALL

Accepts: TypeAlias = Callable[[str], bool]


class _CannotSay(Exception):
    """The pattern is not of this kind."""


def automaton_of(tree: Tree) -> Automaton | None:
    """The automaton of a pattern; `None` where there is none that says the same."""
    try:
        return Automaton(tree)
    except (_CannotSay, RecursionError):
        return None


class Automaton:
    """Places of a pattern, and the ways between them."""

    def __init__(self, tree: Tree) -> None:
        if tree.flags & ~_FLAGS:
            raise _CannotSay
        self._dot_all = bool(tree.flags & _DOTALL)
        self._accepts: list[Accepts | None] = []
        """By place: which character leads on from it; None where none is read."""
        self._on: list[list[int]] = []
        """By place: where it leads."""
        self._asks: dict[int, Any] = {}
        """By place: what must hold around it."""
        self.closures: dict[Any, tuple[frozenset[int], bool]] = {}
        self.steps: dict[Any, frozenset[int]] = {}
        """What searches have worked out; two threads at most work it out twice."""
        self._built = self._kept = 0
        self._tests: dict[int, Accepts] = {}
        """By class of the tree: its test, which all its repetitions share."""
        self._end = self._place()
        self._start = self._build_sequence(tree.parts, self._end)

    # ------------------------------------------------------------------ construction

    def _place(self, *on: int, accepts: Accepts | None = None) -> int:
        if len(self._on) >= MAX_PLACES:
            raise _CannotSay
        self._on.append(list(on))
        self._accepts.append(accepts)
        return len(self._on) - 1

    def _build_sequence(self, parts: Any, after: int) -> int:
        """The place before `parts`, which lead to `after`."""
        for op, argument in reversed(list(parts)):
            after = self._build_part(op, argument, after)
        return after

    def _build_part(self, op: Any, argument: Any, after: int) -> int:
        self._count(1)
        if op in REPEATS and op is not OPS.POSSESSIVE_REPEAT:
            return self._build_repetition(argument, after)
        if op is OPS.SUBPATTERN:
            if argument[1] or argument[2]:
                raise _CannotSay
            return self._build_sequence(argument[3], after)
        if op is OPS.BRANCH:
            return self._place(*[self._build_sequence(part, after) for part in argument[1]])
        if op is OPS.AT:
            if argument not in _ASKED:
                raise _CannotSay
            place = self._place(after)
            self._asks[place] = _ASKED[argument]
            return place
        return self._place(after, accepts=self._build_letter_test(op, argument))

    def _build_repetition(self, argument: Any, after: int) -> int:
        least, most, inside = argument
        endless = most == OPS.MAXREPEAT
        if least > _MOST or (not endless and most > _MOST):
            raise _CannotSay
        if endless:
            loop = self._place(after)
            self._on[loop].insert(0, self._build_sequence(inside, loop))
            after = loop
        else:
            last = after
            for _ in range(int(most) - least):
                after = self._place(self._build_sequence(inside, after), last)
        for _ in range(least):
            self._count(1)  # an empty part makes no place
            after = self._build_sequence(inside, after)
        return after

    def _count(self, steps: int) -> None:
        """Raise `_CannotSay` where making the automaton takes more than reading a text with it may."""
        self._built += steps
        if self._built > MAX_BUILT:
            raise _CannotSay

    def _build_letter_test(self, op: Any, argument: Any) -> Accepts:
        if op is OPS.LITERAL:
            return chr(argument).__eq__
        if op is OPS.NOT_LITERAL:
            return chr(argument).__ne__
        if op is OPS.ANY:
            return (lambda _letter: True) if self._dot_all else "\n".__ne__
        if op is OPS.IN:
            known = self._tests.get(id(argument))
            if known is None:
                if len(argument) > MAX_CLASS:
                    raise _CannotSay
                self._count(len(argument))
                known = self._tests[id(argument)] = _of_set(argument)
            return known
        raise _CannotSay

    # ------------------------------------------------------------------ searching

    def finds(self, text: str, work: Work) -> bool:
        """Whether the pattern is found anywhere in `text`.

        Raises: `TooMuchWork`.
        """
        return _Search(self, text, work).run()

    def closure(self, places: frozenset[int], around: _Around) -> tuple[frozenset[int], bool]:
        """The places where a character is read, from `places` on; and whether the end is reached."""
        seen: set[int] = set()
        reading: set[int] = set()
        waiting = [self._start, *places]
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if place == self._end:
                return frozenset(), True
            if place in self._asks and not self._asks[place](around):
                continue
            if self._accepts[place] is not None:
                reading.add(place)
            else:
                waiting += self._on[place]
        return frozenset(reading), False

    def step(self, reading: frozenset[int], letter: str) -> frozenset[int]:
        """Where `letter` leads from the places that read."""
        accepts, on = self._accepts, self._on
        return frozenset(
            on[place][0]
            for place in reading
            if (test := accepts[place]) is not None and test(letter)
        )

    def keep(self, table: dict[Any, Any], key: Any, value: Any, places: int) -> None:
        """Keep what was worked out, within a bound on all places that the tables hold."""
        self._kept += 1 + places
        if self._kept > _KEPT:
            self.closures.clear()
            self.steps.clear()
            self._kept = 1 + places
        table[key] = value

    @property
    def size(self) -> int:
        """Places, each of which one letter may be compared at."""
        return len(self._on)

    @property
    def asks_of_words(self) -> bool:
        """Whether it matters which letters stand around a place."""
        return any(asked not in _EDGES for asked in self._asks.values())


_Around: TypeAlias = "tuple[str, str, bool]"
"""What stands before (start, word or other), what comes (end, word or other), and whether what
comes is a line break that ends the text."""


class _Search:
    """One search."""

    def __init__(self, automaton: Automaton, text: str, work: Work) -> None:
        self._automaton, self._text, self._work = automaton, text, work
        self._closures, self._steps = automaton.closures, automaton.steps

    def run(self) -> bool:
        text, last, everywhere = self._text, len(self._text) - 1, self._automaton.asks_of_words
        closures, steps = self._closures, self._steps
        self._work.spend(len(text) // _LETTERS)
        places: frozenset[int] = frozenset()
        for at, letter in enumerate(text):
            near = everywhere or at == 0 or at >= last
            key = places, _classify_surroundings(text, at) if near else _INSIDE
            found = closures.get(key)
            reading, ended = self._compute_closure(key) if found is None else found
            if ended:
                return True
            way = reading, letter
            led = steps.get(way)
            places = self._compute_step(way) if led is None else led
        return self._compute_closure((places, _classify_surroundings(text, len(text))))[1]

    def _compute_closure(self, key: tuple[frozenset[int], _Around]) -> tuple[frozenset[int], bool]:
        found = self._automaton.closure(*key)
        self._automaton.keep(self._closures, key, found, len(key[0]) + len(found[0]))
        self._work.spend(1 + len(key[0]) + len(found[0]))
        return found

    def _compute_step(self, way: tuple[frozenset[int], str]) -> frozenset[int]:
        led = self._automaton.step(*way)
        self._automaton.keep(self._steps, way, led, len(way[0]) + len(led))
        self._work.spend(1 + len(way[0]))
        return led


def _classify_surroundings(text: str, at: int) -> _Around:
    before = _classify_letter(text[at - 1]) if at else ""
    if at == len(text):
        return before, "", False
    letter = text[at]
    return before, _classify_letter(letter), letter == "\n" and at == len(text) - 1


def _classify_letter(letter: str) -> str:
    return "w" if letter.isalnum() or letter == "_" else "o"


def _at_boundary(around: _Around) -> bool:
    return (around[0] == "w") != (around[1] == "w")


_INSIDE: Final[_Around] = ("o", "o", False)
"""Around a place that is not at an edge of the text, where no more is asked."""
_ASKED: Final[dict[Any, Callable[[_Around], bool]]] = {
    OPS.AT_BEGINNING: lambda around: around[0] == "",
    OPS.AT_BEGINNING_STRING: lambda around: around[0] == "",
    OPS.AT_END: lambda around: around[1] == "" or around[2],
    OPS.AT_END_STRING: lambda around: around[1] == "",
    OPS.AT_BOUNDARY: _at_boundary,
    # In an empty text there is neither a boundary nor none, as Python has it before 3.14.
    OPS.AT_NON_BOUNDARY: lambda around: not _at_boundary(around) and (around[0] or around[1]) != "",
}
_EDGES: Final = tuple(
    asked for at, asked in _ASKED.items() if at not in {OPS.AT_BOUNDARY, OPS.AT_NON_BOUNDARY}
)
_CATEGORIES: Final[dict[Any, Accepts]] = {
    OPS.CATEGORY_DIGIT: str.isdecimal,
    OPS.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    OPS.CATEGORY_SPACE: str.isspace,
    OPS.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    OPS.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    OPS.CATEGORY_NOT_WORD: lambda letter: not (letter.isalnum() or letter == "_"),
}


def _of_set(members: Any) -> Accepts:
    """Whether a character is in a class."""
    letters = frozenset(chr(argument) for op, argument in members if op is OPS.LITERAL)
    ranges = [(chr(a[0]), chr(a[1])) for op, a in members if op is OPS.RANGE]
    tests = [_CATEGORIES[argument] for op, argument in members if op is OPS.CATEGORY]
    negated = any(op is OPS.NEGATE for op, _ in members)

    def accepts(letter: str) -> bool:
        inside = (
            letter in letters
            or any(low <= letter <= high for low, high in ranges)
            or any(test(letter) for test in tests)
        )
        return inside is not negated

    return accepts

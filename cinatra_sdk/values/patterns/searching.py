r"""An author's pattern on anybody's text, in bounded time.

In: a pattern, a text and a budget of work.  Out: what was found, or `SearchStopped`.

    Matcher(r"\d+").all("a1b22")                  ->  ["1", "22"]
    Matcher(r"(a+)+$").first("aaaa…b")            ->  SearchStopped after 2 s of processor time
    Matcher(r"(a+)+$").found("aaaa…b", Work(…))   ->  False

A search of few steps is made here by Python's own engine; one that only asks whether something is
found, by an automaton; any other in a process of its own.  All three say the same.
"""

from __future__ import annotations

import functools
import re
import warnings
from typing import Final

from cinatra_sdk.values.patterns.apart import SECONDS, SearchStopped, search_apart
from cinatra_sdk.values.patterns.automaton import Automaton, automaton_of
from cinatra_sdk.values.patterns.reading import Tree, read
from cinatra_sdk.values.patterns.steps import most_steps
from cinatra_sdk.values.work import Work

__all__ = ["Matcher", "SearchStopped"]

FEW: Final = 5_000_000
"""Steps of a search that is made here: some tenths of a second at most."""
_VERY_FEW: Final = 5_000
"""Steps of a search that takes no longer than reading the text once."""
_COMPILED: Final = 5_000_000
"""Steps of compiling a pattern here."""
_A_STEP: Final = 50
"""Steps of Python's engine that are one step of work."""
_A_PROCESS: Final = 20_000
"""Steps of work that a process of its own costs, whatever it does."""
_A_SECOND: Final = 1_000_000
"""Steps of work in a second."""


class Matcher:
    """One pattern.

    Raises: `PatternFlawed` where it is none.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tree: Tree = read(pattern)
        self._bounds: dict[int, float] = {}

    @property
    def steps_to_make(self) -> int:
        """Steps of work that reading and compiling the pattern take."""
        return 100 + len(self._pattern) + min(self._tree.compile_steps, _COMPILED) // _A_STEP

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pattern that reads oddly is still a pattern
            return re.compile(self._pattern)

    @functools.cached_property
    def _automaton(self) -> Automaton | None:
        return automaton_of(self._tree)

    def all(self, text: str) -> list[str]:
        """Every match, in order.

        Raises: `SearchStopped`.
        """
        return self._find_matches(text, first=False)

    def all_parts(self, text: str) -> list[str]:
        """As `all`, but of a pattern with one group what the group matched, as Python's `findall`.

        Raises: `SearchStopped`.
        """
        return self._find_matches(text, first=False, group=1 if self._tree.groups == 2 else 0)

    def first(self, text: str) -> str:
        """The first match, or an empty string.

        Raises: `SearchStopped`.
        """
        return (self._find_matches(text, first=True) or [""])[0]

    def found(self, text: str, work: Work) -> bool:
        """Whether the pattern is found in `text`.

        Raises: `TooMuchWork`, of which `SearchStopped` is one.
        """
        steps = self._steps(len(text))
        is_short = self._runs_here(steps)
        if not is_short or steps > _VERY_FEW + len(text) * _A_STEP:
            automaton = self._automaton
            if automaton is not None:
                return automaton.finds(text, work)
        if is_short:
            work.spend(1 + int(steps) // _A_STEP)
            return self._compiled.search(text) is not None
        work.spend(_A_PROCESS)
        seconds = min(SECONDS, max(work.left / _A_SECOND, 0.01))
        found, took = search_apart(self._pattern, text, first=True, seconds=seconds)
        work.spend(int(took * _A_SECOND))
        return bool(found)

    def runs_here(self, text: str) -> bool:
        """Whether a search in `text` is short for sure."""
        return self._runs_here(self._steps(len(text)))

    def _runs_here(self, steps: float) -> bool:
        return steps <= FEW and self._tree.compile_steps <= _COMPILED

    def _steps(self, length: int) -> float:
        # Rounded up, so that a few bounds serve all texts.
        rounded = length if length < 16 else 1 << (length - 1).bit_length()
        bound = self._bounds.get(rounded)
        if bound is None:
            bound = self._bounds[rounded] = most_steps(self._tree, rounded)
        return bound

    def _find_matches(self, text: str, *, first: bool, group: int = 0) -> list[str]:
        if not self.runs_here(text):
            return search_apart(self._pattern, text, first=first, seconds=SECONDS, group=group)[0]
        if not first:
            return [match.group(group) or "" for match in self._compiled.finditer(text)]
        found = self._compiled.search(text)
        return [found.group(0)] if found else []

r"""An author's pattern on anybody's text, in bounded time.

In: a pattern, a text and a budget of work.  Out: the matches, or `SearchStopped`.

    Matcher(r"\d+").all("a1b22")                  ->  ["1", "22"]
    Matcher(r"(a+)+$").first("aaaa…b")            ->  SearchStopped after 2 s of processor time
    Matcher(r"(a+)+$").found("aaaa…b", Work(…))   ->  False

Python's own engine makes a search of few steps; an automaton makes a search that only asks whether
something is found; a process of its own makes any other search.  All three give the same result.
"""

from __future__ import annotations

import functools
import json
import math
import re
import subprocess
import sys
import warnings
from typing import Any, Final, TypeAlias

from cinatra_sdk.data.patterns.automaton import Automaton, automaton_of
from cinatra_sdk.data.patterns.syntax import LOOKS, OPS, REPEATS, Tree, read
from cinatra_sdk.data.work_budget import TooMuchWork, Work

# ----------------------------------------------------------------------------
# How many steps Python's engine takes at most to search a text, read off the pattern's tree.
#
#     most_steps(read(r"^[a-z]+$"), 100)       some hundreds: searched here
#     most_steps(read(r"(a+)+$"), 100)         infinite: not here
#
# Python's engine tries every way of matching.  So a part has two numbers: the ways in which it can
# match from one place, and the steps of trying all of them.  Parts in a row multiply their ways, a
# repetition raises them to the power of its turns.  A guess that is too high costs some time, never
# a wrong answer.


_TURN: Final = 10
"""Steps of one turn of a repetition around more than one character: it keeps a place on a stack."""
_AT_THE_START: Final = (OPS.AT_BEGINNING, OPS.AT_BEGINNING_STRING)
_MULTILINE: Final = 8

Cost: TypeAlias = "tuple[float, float]"
"""Ways to match from one place, and steps to try them all."""


def most_steps(tree: Tree, length: int) -> float:
    """Steps of a search in a text of `length` characters; infinite where no bound is found."""
    try:
        _, steps = _measure_sequence(tree.parts, length, tree.groups)
    except (OverflowError, RecursionError):
        return math.inf
    if _is_anchored(tree):
        return steps + length
    return steps * (length + 1)


def _is_anchored(tree: Tree) -> bool:
    first = tree.parts[0] if len(tree.parts) else (None, None)
    return first[0] is OPS.AT and first[1] in _AT_THE_START and not (tree.flags & _MULTILINE)


def _measure_sequence(parts: Any, length: int, groups: int) -> Cost:
    ways, steps = 1.0, 1.0
    for op, argument in parts:
        more_ways, more_steps = _measure_part(op, argument, length, groups)
        steps += ways * more_steps
        ways *= more_ways
    return ways, steps


def _measure_part(op: Any, argument: Any, length: int, groups: int) -> Cost:
    if op in REPEATS:
        return _measure_repetition(op, argument, length, groups)
    if op is OPS.SUBPATTERN:
        return _measure_sequence(argument[3], length, groups)
    if op is OPS.BRANCH:
        return _add_costs([_measure_sequence(part, length, groups) for part in argument[1]])
    if op is OPS.GROUPREF_EXISTS:
        return _add_costs(
            [_measure_sequence(part, length, groups) for part in argument[1:] if part is not None]
        )
    if op in LOOKS or op is OPS.ATOMIC_GROUP:
        # The first way counts, and none is tried again from outside.
        _, steps = _measure_sequence(argument[1] if op in LOOKS else argument, length, groups)
        return 1.0, steps + 1
    if op is OPS.GROUPREF:
        return 1.0, length + 1.0
    return 1.0, 1.0 + (len(argument) if op is OPS.IN else 0)


def _add_costs(costs: list[Cost]) -> Cost:
    return sum(ways for ways, _ in costs) + 1, sum(steps + 1 for _, steps in costs) + 1


def _measure_repetition(op: Any, argument: Any, length: int, groups: int) -> Cost:
    least, most, inside = int(argument[0]), int(argument[1]), argument[2]
    body_ways, body_steps = _measure_sequence(inside, length, groups)
    width = inside.getwidth()[0]
    turns = min(most, length // width + 1 if width else max(least, length + 1))
    # One character at a time is counted on the spot; anything else keeps all groups on a stack.
    simple = len(inside) == 1 and inside[0][0] in _SINGLE
    turn = body_steps + (0 if simple else _TURN + 2 * groups)
    if body_ways <= 1:
        ways, steps = max(1.0, turns - least + 1.0), turns * turn + 1.0
    else:
        # Raises OverflowError where there is no bound worth having.
        ways = turns * body_ways**turns + 1.0
        steps = ways * turn
    return (1.0 if op is OPS.POSSESSIVE_REPEAT else ways), steps


_SINGLE: Final = (OPS.LITERAL, OPS.NOT_LITERAL, OPS.ANY, OPS.IN)


# ----------------------------------------------------------------------------
# A search in a process of its own, which the kernel ends.
#
# In: a pattern and a text.  Out: the matches and the seconds of the search, or `SearchStopped`.
#
# Python's engine holds the interpreter while it searches, and cannot be interrupted from inside
# its process.  So a search that may take long is made in another one (some 20 ms), with limits on
# processor time and memory.  It needs no terminal, and no standard input of the parent.


SECONDS: Final = 2
"""Processor time of one search."""
MEGABYTES: Final = 512
"""Memory of one search; where the system limits none (macOS), the time bounds it."""
_PATIENCE: Final = 30
"""Seconds until such a process is given up, however little processor time it got."""

# The timer ends the process by a signal that Python leaves alone; the limit does where there is
# no such timer.  Compiling counts, too.
_PROGRAM: Final = """
import json, re, resource, signal, sys, time, warnings
pattern, text, first, seconds, size, group = json.load(sys.stdin)
warnings.simplefilter("ignore")
signal.setitimer(signal.ITIMER_PROF, seconds)
whole = int(seconds) + 1
for limit, most in ((resource.RLIMIT_CPU, whole), (resource.RLIMIT_AS, size), (resource.RLIMIT_CORE, 0)):
    try:
        resource.setrlimit(limit, (most, most))
    except (OSError, ValueError):
        pass
found = []
try:
    for match in re.finditer(pattern, text):
        found.append(match.group(group) or "")
        if first:
            break
except MemoryError:
    sys.exit(9)
json.dump([found, time.process_time()], sys.stdout)
"""
_NO_MEMORY: Final = 9


_WORDS: Final = (
    (1.0, "a second"),
    (0.5, "half a second"),
    (0.1, "a tenth of a second"),
    (0.0, "a hundredth of a second"),
)


class SearchStopped(TooMuchWork):
    """A search took too long or too much; the text names the rule."""


def spoken(seconds: float) -> str:
    """A time in words, rounded down: "2 seconds", "half a second"."""
    if seconds >= 2:
        return f"{int(seconds)} seconds"
    return next(words for least, words in _WORDS if seconds >= least)


def search_apart(
    pattern: str, text: str, *, first: bool, seconds: float = SECONDS, group: int = 0
) -> tuple[list[str], float]:
    """Every match (or the first), and the seconds of processor time.

    group: the group of a match that is taken; 0: the whole match.
    Raises: `SearchStopped`.
    """
    command = [sys.executable or "python3", "-I", "-S", "-c", _PROGRAM]
    question = json.dumps([pattern, text, first, seconds, MEGABYTES * 1024 * 1024, group])
    problem = ""
    try:
        done = subprocess.run(  # noqa: S603 - our own program; pattern and text are its input
            command, input=question, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        problem = f"it did not end within {_PATIENCE} s"
    except OSError as error:
        problem = f"its process cannot be started: {type(error).__name__}"
    else:
        if done.returncode < 0:
            problem = f"it took more than {spoken(seconds)} of processor time"
        elif done.returncode == _NO_MEMORY:
            problem = f"it took more than {MEGABYTES} MB of memory"
        elif done.returncode:
            problem = f"its process ended with code {done.returncode}"
    if problem:
        raise SearchStopped(f"the search was stopped: {problem}")
    answer: Any = json.loads(done.stdout)
    return list(answer[0]), float(answer[1])


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

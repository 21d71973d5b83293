r"""A regular expression, read into Python's own syntax tree without compiling it; its flaws in words.

    read("(a+)+$")      ->  Tree(parts=[(MAX_REPEAT, …), (AT, AT_END)], groups=2, …)
    flaw("(a")          ->  PatternFlawed("it is no regular expression")

Reading takes time in proportion to the pattern.  Compiling does not: a few hundred bytes of
character classes, or one case-insensitive range, take seconds to compile.  So code that only asks whether a
pattern can be used does not compile it.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Final

from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Why a text is no regular expression, in words for people.
#
#     said("(a")           ->  "( is not closed"
#     said("*a", at=0)     ->  "* at position 1 repeats nothing"
#     said(r"\y", at=0)    ->  r"\y at position 1 is no escape"
#
# In: a pattern that Python refused, and where.  The messages of the library are not repeated.


_JAVASCRIPT_NAME: Final = re.compile(r"\(\?<([A-Za-z_]\w*)>")
_NAMED: Final = re.compile(r"\(\?P<([A-Za-z_]\w*)>")
_RANGE: Final = re.compile(r"(\\?.)-(\\?.)")
_REPEATS: Final = "*+?{"


def said(pattern: str, at: int | None = None) -> str:
    """One part of a sentence; positions count from 1."""
    opened = _describe_bracket_flaw(pattern)
    if opened:
        return opened
    named = _NAMED.findall(pattern)
    twice = next((name for name in named if named.count(name) > 1), "")
    if twice:
        return f'two groups are called "{twice[:40]}"'
    script = _JAVASCRIPT_NAME.search(pattern)
    if script is not None:
        return f"a named group is written (?P<{script[1][:40]}>…)"
    where = f"at position {(at or 0) + 1}"
    sign = pattern[at : at + 1] if at is not None else ""
    if sign == "\\":
        return f"\\{pattern[at + 1 : at + 2]} {where} is no escape" if at is not None else ""
    if at and pattern.startswith("(?", at - 1):
        return f"the group ({pattern[at : at + 2]} at position {at} is none that is known"
    if sign and sign in _REPEATS:
        return f"{sign} {where} repeats nothing"
    found = _RANGE.match(pattern, at or 0)
    if found is not None and found[1][-1] > found[2][-1]:
        return f"the range {found[0]} {where} runs backwards"
    return f"it cannot be read {where}"


def _describe_bracket_flaw(pattern: str) -> str:
    """A bracket without its partner; a backslash at the end."""
    open_groups, at = 0, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            if at + 1 == len(pattern):
                return "it ends with a backslash"
            at += 1
        elif sign == "[":
            end = _end_of_class(pattern, at)
            if end < 0:
                return "[ is not closed"
            at = end
        elif sign == "(":
            open_groups += 1
        elif sign == ")":
            if not open_groups:
                return f") at position {at + 1} closes nothing"
            open_groups -= 1
        at += 1
    return "( is not closed" if open_groups else ""


def _end_of_class(pattern: str, start: int) -> int:
    at = start + 2 if pattern.startswith("[^", start) else start + 1
    first = at  # a ] that comes first stands for itself
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "]" and at > first:
            return at
        at += 1
    return -1


# Python's own reader: what it says is what `re.compile` would say.
_READER: Final[Any] = importlib.import_module("re._parser")
OPS: Final[Any] = importlib.import_module("re._constants")

MAX_PATTERN: Final = 10_000
"""Characters of a pattern."""
MAX_DEPTH: Final = 100
"""Groups inside each other."""


class PatternFlawed(ValueError):
    """The text is no pattern that can be searched; the message is a part of a sentence."""

    def __init__(self, text: str, *, detail: str = "") -> None:
        super().__init__(text)
        self.detail = detail
        """What is wrong with it, where it is no regular expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A pattern as Python reads it."""

    parts: Any
    """Pairs of an operation and what it applies to."""
    flags: int
    groups: int
    """Capturing groups, and one."""
    compile_steps: int
    """What compiling it costs, from above."""


def flaw(pattern: str) -> PatternFlawed | None:
    """Why `pattern` cannot be used; None when it can."""
    try:
        read(pattern)
    except PatternFlawed as flawed:
        return flawed
    return None


@functools.lru_cache(maxsize=1024)
def read(pattern: str) -> Tree:
    """The tree of `pattern`.

    Raises: `PatternFlawed`.
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternFlawed(f"it is longer than {MAX_PATTERN:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pattern that reads oddly is still a pattern
            parts = _READER.parse(pattern)
        return Tree(
            parts=parts,
            flags=parts.state.flags,
            groups=parts.state.groups,
            compile_steps=_count_compile_steps(parts, parts.state.flags),
        )
    except PatternFlawed:
        raise
    except RecursionError:
        problem, detail = "its groups nest too deeply", "its groups nest too deeply"
    except re.error as error:
        problem, detail = "it is no regular expression", said(pattern, error.pos)
    except (ValueError, OverflowError):
        problem, detail = "it is no regular expression", "a number in it is too large"
    raise PatternFlawed(problem, detail=detail)


def below(op: Any, argument: Any) -> Iterator[Any]:
    """The parts inside one part."""
    if op in REPEATS:
        yield argument[2]
    elif op is OPS.SUBPATTERN:
        yield argument[3]
    elif op is OPS.BRANCH:
        yield from argument[1]
    elif op in LOOKS:
        yield argument[1]
    elif op is OPS.ATOMIC_GROUP:
        yield argument
    elif op is OPS.GROUPREF_EXISTS:
        yield from (part for part in argument[1:] if part is not None)


REPEATS: Final = (OPS.MAX_REPEAT, OPS.MIN_REPEAT, OPS.POSSESSIVE_REPEAT)
LOOKS: Final = (OPS.ASSERT, OPS.ASSERT_NOT)


def _count_compile_steps(parts: Any, flags: int) -> int:
    """Steps to compile `parts`; raises `PatternFlawed` for what only compiling would refuse."""
    steps = 0
    waiting = [(parts, flags, 0)]
    while waiting:
        inside, applied, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise PatternFlawed(f"its groups nest deeper than {MAX_DEPTH}")
        for op, argument in inside:
            steps += 1
            if op is OPS.IN:
                steps += _steps_of_set(argument, applied)
            elif op in LOOKS and argument[0] < 0:
                least, most = argument[1].getwidth()
                if least != most:
                    raise PatternFlawed("it looks behind for texts of different lengths")
            own = (applied | argument[1]) & ~argument[2] if op is OPS.SUBPATTERN else applied
            waiting += [(part, own, depth + 1) for part in below(op, argument)]
    return steps


def _steps_of_set(members: Iterable[Any], flags: int) -> int:
    """What a character class costs: a table of 65,536 places beyond Latin-1, each letter folded."""
    steps = 0
    for op, argument in members:
        low, high = argument if op is OPS.RANGE else (argument, argument)
        if op in {OPS.RANGE, OPS.LITERAL}:
            steps += high - low + 1 if flags & re.IGNORECASE else 1
            steps += 65_536 if high > 255 else 0
    return steps


_MANY_LINES: Final = re.compile(r"\(\?[a-z-]*m")


def end_as_in_json_schema(pattern: str) -> str:
    r"""The pattern with `$` as JSON Schema means it: the end of the text.

    `^[a-z]+$` -> `^[a-z]+\Z`.  Python's `$` also matches before a line break at the end, so that
    "bcc\n" would pass for small letters alone.  Source: ECMA-262, which Draft 2020-12 names.
    """
    if "$" not in pattern or _MANY_LINES.search(pattern):
        return pattern
    made: list[str] = []
    is_in_class = False
    place = 0
    while place < len(pattern):
        letter = pattern[place]
        if letter == "\\":
            made.append(pattern[place : place + 2])
            place += 2
            continue
        if letter == "[" and not is_in_class:
            is_in_class = True
            # A bracket that stands first in a class is a member of it.
            first = re.match(r"\[\^?\]?", pattern[place:])
            made.append(first.group() if first else letter)
            place += len(made[-1])
            continue
        if letter == "]":
            is_in_class = False
        made.append(r"\Z" if letter == "$" and not is_in_class else letter)
        place += 1
    return "".join(made)

r"""Why a text is no regular expression, in words for people.

    said("(a")           ->  "( is not closed"
    said("*a", at=0)     ->  "* at position 1 repeats nothing"
    said(r"\y", at=0)    ->  r"\y at position 1 is no escape"

In: a pattern that Python refused, and where.  The messages of the library are not repeated.
"""

from __future__ import annotations

import re
from typing import Final

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

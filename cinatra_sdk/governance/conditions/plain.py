"""Operators that only need the values of their arguments, and compare only what is of one kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from cinatra_sdk.governance.canonical import canonical_json


class Undecided(Exception):
    """The facts do not say whether a condition holds; says why, without their values."""


def is_truthy(value: Any) -> bool:
    """As JsonLogic counts: an empty list is false, and `"0"` is true."""
    return bool(value)


def name_kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


def _is_same(first: Any, second: Any) -> bool:
    return name_kind(first) == name_kind(second) and bool(first == second)


def _in_order(name: str, holds: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    def compare(*values: Any) -> bool:
        kinds = {name_kind(one) for one in values}
        if len(kinds) != 1 or not kinds <= {"a number", "a text"}:
            raise Undecided(f"'{name}' would compare {' with '.join(map(name_kind, values))}")
        return all(holds(a, b) for a, b in pairwise(values))

    return compare


def _numbers(name: str, values: Sequence[Any]) -> list[Any]:
    for one in values:
        if name_kind(one) != "a number":
            raise Undecided(f"'{name}' would calculate with {name_kind(one)}")
    return list(values)


def _finite(name: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise Undecided(f"'{name}' gives no finite number")
    if isinstance(value, int) and abs(value) > 2**53:
        raise Undecided(f"'{name}' gives a number beyond 2**53")
    return value


def _divide(*values: Any) -> Any:
    first, second = _numbers("/", values)
    if second == 0:
        raise Undecided("'/' would divide by 0")
    return _finite("/", first / second)


def _remainder(*values: Any) -> Any:
    first, second = _numbers("%", values)
    if second == 0:
        raise Undecided("'%' would divide by 0")
    # The sign of the first, as ECMAScript has it.
    return math.fmod(first, second) if isinstance(first, float) else int(math.fmod(first, second))


def _subtract(*values: Any) -> Any:
    numbers = _numbers("-", values)
    return _finite("-", -numbers[0] if len(numbers) == 1 else numbers[0] - numbers[1])


def _add(*values: Any) -> Any:
    return _finite("+", sum(_numbers("+", values)))


def _multiply(*values: Any) -> Any:
    return _finite("*", math.prod(_numbers("*", values)))


def _contains(*values: Any) -> bool:
    needle, hay = values
    if isinstance(hay, str) and isinstance(needle, str):
        return needle in hay
    if isinstance(hay, list):
        return any(_is_same(needle, one) for one in hay)
    raise Undecided(f"'in' needs a list or two texts, not {name_kind(needle)} and {name_kind(hay)}")


def _at_end(name: str, holds: Callable[[str, str], bool]) -> Callable[..., bool]:
    def compare(*values: Any) -> bool:
        text, part = values
        if not isinstance(text, str) or not isinstance(part, str):
            kinds = " and ".join(map(name_kind, values))
            raise Undecided(f"'{name}' needs two texts, not {kinds}")
        return holds(text, part)

    return compare


def _join(*values: Any) -> str:
    for one in values:
        if name_kind(one) not in {"a text", "a number"}:
            raise Undecided(f"'cat' would join {name_kind(one)}")
    return "".join(one if isinstance(one, str) else canonical_json(one).decode() for one in values)


def _merge(*values: Any) -> list[Any]:
    return [part for one in values for part in (one if isinstance(one, list) else [one])]


def _part(*values: Any) -> str:
    text, start = values[0], values[1]
    length = values[2] if len(values) > 2 else None
    numbers = [start] if length is None else [start, length]
    if not isinstance(text, str) or any(not isinstance(one, int) for one in numbers):
        raise Undecided("'substr' needs a text and whole numbers")
    begun = text[start:]
    return begun if length is None else begun[:length]


PLAIN: Final[Mapping[str, tuple[int, int | None, Callable[..., Any]]]] = {
    "==": (2, 2, _is_same),
    "===": (2, 2, _is_same),
    "!=": (2, 2, lambda a, b: not _is_same(a, b)),
    "!==": (2, 2, lambda a, b: not _is_same(a, b)),
    ">": (2, 2, _in_order(">", lambda a, b: a > b)),
    ">=": (2, 2, _in_order(">=", lambda a, b: a >= b)),
    "<": (2, 3, _in_order("<", lambda a, b: a < b)),
    "<=": (2, 3, _in_order("<=", lambda a, b: a <= b)),
    "!": (1, 1, lambda a: not is_truthy(a)),
    "!!": (1, 1, is_truthy),
    "+": (1, None, _add),
    "-": (1, 2, _subtract),
    "*": (1, None, _multiply),
    "/": (2, 2, _divide),
    "%": (2, 2, _remainder),
    "min": (1, None, lambda *values: min(_numbers("min", values))),
    "max": (1, None, lambda *values: max(_numbers("max", values))),
    "in": (2, 2, _contains),
    "startsWith": (2, 2, _at_end("startsWith", str.startswith)),
    "endsWith": (2, 2, _at_end("endsWith", str.endswith)),
    "cat": (1, None, _join),
    "substr": (2, 3, _part),
    "merge": (0, None, _merge),
}

"""The operators of conditions, which compare only values of one kind.

{"in": ["x", {"var": "args.tags"}]}, {"matches": [{"var": "args.to"}, "[a-z]+@acme[.]example"]}
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Self

from cinatra_sdk.data.patterns.automaton import Automaton, automaton_of
from cinatra_sdk.data.patterns.syntax import PatternFlawed, read
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.data.work_budget import Work
from cinatra_sdk.governance.contracts.record_format import canonical_json
from cinatra_sdk.light_imports.records import dataclass


class ConditionInvalid(ValueError):
    """The condition is no JsonLogic; says where and why."""


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


def _lower(*values: Any) -> str:
    """Small letters; wide and other forms of a letter are that letter, and signs without a form go."""
    (text,) = values
    if not isinstance(text, str):
        raise Undecided(f"'lower' needs a text, not {name_kind(text)}")
    if text.isascii():
        return text.lower()
    # Letter by letter: of a whole text with many accents, the work grows with its square.
    plain = (
        unicodedata.normalize("NFKC", one) for one in text if unicodedata.category(one) != "Cf"
    )
    return "".join(plain).casefold()


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
    "lower": (1, 1, _lower),
    "substr": (2, 3, _part),
    "merge": (0, None, _merge),
}


# ----------------------------------------------------------------------------
# Patterns that hold for the whole of a text, in time that grows with the text only.
#
#     read_pattern(r"[a-z]+@acme[.]example")      ->  an automaton that takes "bob@acme.example", and no
#                                                    "bob@acme.example\n", "x bob@acme.example", "BOB@…"
#
# A pattern is one of Python's `re` that no text can hold up: without references back, looks around and flags.


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


# ----------------------------------------------------------------------------
# Operators that decide which of their arguments are evaluated, and for what.
#
# `and` and `or` are decided by the argument that decides them, also where another cannot be decided.


MAX_STEPS: Final = 20_000
"""Operators that one evaluation may run: `map` inside `map` multiplies."""
PARTS_PER_STEP: Final = 100
"""Letters or elements that count as a step: `cat` inside `reduce` doubles a text each time."""
MAX_VALUE_DEPTH: Final = 200
"""Levels of a value that is compared.  Python's own limit differs by version and by what called, and a
replay has to come to the same.
"""
_LONGEST_INDEX: Final = 9
"""Digits of a place in a list."""
_ENOUGH: Final = 10**9
"""Work of one comparison with a pattern: more than there is, since letters and places are bounded."""


@dataclass(slots=True)
class Facts:
    """The facts, or the element that is looked at, and how much of the evaluation is left."""

    data: Any
    left: int = MAX_STEPS

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise Undecided(f"it takes more than {MAX_STEPS} steps")

    def look_up(self, path: str) -> Any:
        """None where nothing stands there."""
        found = self.data
        for part in path.split(".") if path else ():
            if isinstance(found, (dict, Mapping)):
                found = found.get(part)
            elif isinstance(found, list) and part.isdecimal() and part.isascii():
                at = int(part) if len(part) <= _LONGEST_INDEX else len(found)
                found = found[at] if at < len(found) else None
            else:
                return None
        return found


def evaluate(one: Any, context: Any) -> Any:
    if isinstance(one, Operator):
        return one.evaluate(context)
    if isinstance(one, list):
        return [evaluate(part, context) for part in one]
    return one


@dataclass
class Operator:
    """An operator with its arguments, which it evaluates itself."""

    operator: str
    arguments: list[Any]
    least = 0
    most: int | None = None

    @classmethod
    def from_expression(cls, operator: str, arguments: list[Any]) -> Self:
        count = len(arguments)
        if count < cls.least or (cls.most is not None and count > cls.most):
            bound = "any number of" if cls.most is None else str(cls.most)
            raise ConditionInvalid(
                f"'{operator}' has {say_number(count, 'argument')}; it takes {cls.least} to {bound}"
            )
        return cls(operator, arguments)

    def evaluate(self, context: Any) -> Any:
        context.spend()
        try:
            return self.work(context)
        except OverflowError:
            problem = "gives a number that is too large"
        except RecursionError:
            problem = "goes into a value that is too deep"
        raise Undecided(f"'{self.operator}' {problem}")

    def work(self, context: Any) -> Any:
        raise NotImplementedError

    def values(self, context: Any) -> list[Any]:
        return [evaluate(one, context) for one in self.arguments]

    def items(self, context: Any) -> list[Any]:
        """The list that the operator goes over; null has no elements."""
        found = evaluate(self.arguments[0], context)
        if found is None:
            return []
        if not isinstance(found, list):
            raise Undecided(f"'{self.operator}' needs a list, not {name_kind(found)}")
        context.spend(len(found) // PARTS_PER_STEP)
        return found

    def over(self, context: Any, item: Any) -> Any:
        """What the second argument gives for one element."""
        around, context.data = context.data, item
        try:
            return evaluate(self.arguments[1], context)
        finally:
            context.data = around


class _Var(Operator):
    least, most = 0, 2

    def work(self, context: Any) -> Any:
        values = self.values(context)
        path = values[0] if values else ""
        if path is None or isinstance(path, bool) or not isinstance(path, (str, int)):
            path = "" if path is None else None
        if path is None:
            raise Undecided("'var' needs the name of a variable")
        found = context.look_up(str(path))
        return values[1] if found is None and len(values) > 1 else found


class _Missing(Operator):
    def work(self, context: Any) -> Any:
        values = self.values(context)
        names = values[0] if values and isinstance(values[0], list) else values
        return _list_missing(names, context)


class _MissingSome(Operator):
    least, most = 2, 2

    def work(self, context: Any) -> Any:
        need, names = self.values(context)
        if not isinstance(names, list) or name_kind(need) != "a number":
            raise Undecided("'missing_some' needs a number and a list of names")
        missing = _list_missing(names, context)
        return [] if len(names) - len(missing) >= need else missing


def _list_missing(names: Sequence[Any], context: Any) -> list[Any]:
    if any(isinstance(one, (list, Mapping)) for one in names):
        raise Undecided("the name of a variable is a text or a number")
    context.spend(len(names) // PARTS_PER_STEP)
    return [one for one in names if context.look_up(str(one)) in (None, "")]


class _If(Operator):
    least = 1

    def work(self, context: Any) -> Any:
        rest = self.arguments
        while len(rest) > 1:
            if is_truthy(evaluate(rest[0], context)):
                return evaluate(rest[1], context)
            rest = rest[2:]
        return evaluate(rest[0], context) if rest else None


class _AndOr(Operator):
    least = 1
    deciding = False

    def work(self, context: Any) -> Any:
        value, undecided = None, None
        for one in self.arguments:
            try:
                value = evaluate(one, context)
            except Undecided as error:
                undecided = undecided or error
                continue
            if is_truthy(value) is self.deciding:
                return value
        if undecided is not None:
            raise undecided
        return value


class _And(_AndOr):
    deciding = False


class _Or(_AndOr):
    deciding = True


class _Map(Operator):
    least, most = 2, 2

    def work(self, context: Any) -> Any:
        return [self.over(context, one) for one in self.items(context)]


class _Filter(Operator):
    least, most = 2, 2

    def work(self, context: Any) -> Any:
        return [one for one in self.items(context) if is_truthy(self.over(context, one))]


class _Reduce(Operator):
    least, most = 3, 3

    def work(self, context: Any) -> Any:
        made = evaluate(self.arguments[2], context)
        for one in self.items(context):
            made = self.over(context, {"current": one, "accumulator": made})
        return made


class _All(Operator):
    least, most = 2, 2

    def work(self, context: Any) -> Any:
        items = self.items(context)
        return bool(items) and all(is_truthy(self.over(context, one)) for one in items)


class _Some(Operator):
    least, most = 2, 2

    def work(self, context: Any) -> Any:
        return any(is_truthy(self.over(context, one)) for one in self.items(context))


class _None(Operator):
    least, most = 2, 2

    def work(self, context: Any) -> Any:
        return not any(is_truthy(self.over(context, one)) for one in self.items(context))


@dataclass
class _Matches(Operator):
    """Whether the whole of a text is as a pattern says, which stands in the condition itself."""

    least, most = 2, 2
    pattern: Automaton | None = None

    @classmethod
    def from_expression(cls, operator: str, arguments: list[Any]) -> Self:
        made = super().from_expression(operator, arguments)
        try:
            made.pattern = read_pattern(arguments[1])
        except PatternFlawed as flawed:
            problem = flawed.detail or str(flawed)
        else:
            return made
        raise ConditionInvalid(f"'{operator}' cannot use its pattern: {problem}")

    def work(self, context: Any) -> bool:
        text = evaluate(self.arguments[0], context)
        if not isinstance(text, str):
            raise Undecided(f"'{self.operator}' needs a text, not {name_kind(text)}")
        context.spend(len(text))  # by the letter, whatever earlier comparisons have worked out
        assert self.pattern is not None  # read with the condition
        return self.pattern.finds(text, Work(_ENOUGH))


_FORMS: Final[Mapping[str, type[Operator]]] = {
    "var": _Var,
    "missing": _Missing,
    "missing_some": _MissingSome,
    "if": _If,
    "?:": _If,
    "and": _And,
    "or": _Or,
    "map": _Map,
    "filter": _Filter,
    "reduce": _Reduce,
    "all": _All,
    "some": _Some,
    "none": _None,
    "matches": _Matches,
}


_DEEP: Final = frozenset({"==", "===", "!=", "!==", "in"})
"""Operators that go into lists and objects."""


def _weigh(values: list[Any], most: int, *, deep: bool) -> int:
    """Letters and elements of the values, counted as far as `most`.

    Raises: `RecursionError` for one that is deeper than `MAX_VALUE_DEPTH`, where it matters.
    """
    seen, left = len(values), [(one, 1) for one in values]
    while left and seen <= most:
        one, depth = left.pop()
        if isinstance(one, (str, list, Mapping)):
            seen += len(one)
        if deep and isinstance(one, (list, Mapping)):
            if depth > MAX_VALUE_DEPTH:
                raise RecursionError
            left += [(part, depth + 1) for part in (one if isinstance(one, list) else one.values())]
    return seen


def _make_plain(fewest: int, largest: int | None, apply: Callable[..., Any]) -> type[Operator]:
    """An operator that only needs the values of its arguments."""

    class Plain(Operator):
        least, most = fewest, largest

        def work(self, context: Any) -> Any:
            values = self.values(context)
            most = (context.left + 1) * PARTS_PER_STEP
            weight = _weigh(values, most, deep=self.operator in _DEEP)
            context.spend(weight // PARTS_PER_STEP)
            return apply(*values)

    return Plain


OPERATORS: Final[dict[str, type[Operator]]] = {
    **_FORMS,
    **{name: _make_plain(*plain) for name, plain in PLAIN.items()},
}


def read_operators(logic: Any) -> Any:
    """A condition as JSON with each object, which has one member, as the operator that it names.

    Raises: `ConditionInvalid`.
    """
    if isinstance(logic, list):
        return [read_operators(part) for part in logic]
    if not isinstance(logic, dict):
        return logic
    ((name, given),) = logic.items()
    operator = OPERATORS.get(name)
    if operator is None:
        raise ConditionInvalid(f"there is no operator '{name[:60]}'")
    return operator.from_expression(
        name, read_operators(given if isinstance(given, list) else [given])
    )

"""Casting values along data edges, at run time.

In: a value and the type of the input it flows into.  Out: the value as that type, or `CastError`.

    cast(3.7, integer) -> 3      cast(["a"], string) -> '["a"]'      cast(0, boolean) -> False

Source: Agent Spec, type conversion; recursive in lists and objects.  A null stays null, except
that a string input takes it as an empty string.

A text is read as JSON only where a run could keep what it spells: "NaN", "1e999" or an integer of
more than 64 bit stay texts, and a text cannot become a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from cinatra_sdk.templates.language import TemplateError, json_text
from cinatra_sdk.values.strict_json import NotStrictJson, read_json
from cinatra_sdk.values.work import TooMuchWork, Work
from oas_compiler.ir import ANY, ArrayType, ObjectType, ScalarType, Type, UnionType

_INTEGERS: Final = range(-(2**63), 2**63)
"""What a run can keep: signed 64 bit, as `cinatra_sdk.values.json_values` has it."""
_MAX_STEPS: Final = 2_000_000
"""Types that one value is tried as, at all its places together."""
_LETTERS: Final = 50
"""Characters of a text that are read as JSON in one step."""


class CastError(ValueError):
    """The value cannot be made into the type; the text says both, not the value."""


def caster(source: Type, target: Type) -> Callable[[Any], Any] | None:
    """The function that brings values of `source` to `target`; None where none is needed."""
    if target in (ANY, source):
        return None
    return lambda value: cast(value, target)


def cast(value: Any, target: Type) -> Any:
    """`value` as `target`; raises `CastError`."""
    if isinstance(target, ScalarType):
        return _SCALARS[target.kind](value)
    try:
        return _cast(value, target, Work(_MAX_STEPS))
    except TooMuchWork as stopped:
        problem = f"a {_kind(value)} cannot become the type of the input: {stopped}"
    raise CastError(problem)


def _cast(value: Any, target: Type, work: Work) -> Any:
    if isinstance(target, ScalarType):
        return _SCALARS[target.kind](value)
    if value is None:
        return None
    if isinstance(value, str):
        # A text is read as JSON for each of the types that it is tried as.
        work.spend(1 + len(value) // _LETTERS)
    if isinstance(target, ArrayType):
        return _array(value, target, work)
    if isinstance(target, ObjectType):
        return _object(value, target, work)
    return _union(value, target, work)


def _array(value: Any, target: ArrayType, work: Work) -> Any:
    value = _parsed(value)
    if not isinstance(value, list):
        raise _cannot(value, "an array")
    return value if target.items == ANY else [_cast(item, target.items, work) for item in value]


def _object(value: Any, target: ObjectType, work: Work) -> Any:
    value = _parsed(value)
    if not isinstance(value, dict):
        raise _cannot(value, "an object")
    if not target.properties and target.additional in (None, ANY):
        return value
    known = dict(target.properties)
    extra = target.additional
    return {
        key: _cast(item, known[key], work)
        if key in known
        else item
        if extra is None
        else _cast(item, extra, work)
        for key, item in value.items()
    }


def _union(value: Any, target: UnionType, work: Work) -> Any:
    work.spend(len(target.options))
    for option in target.options:
        if _is(value, option):
            return _cast(value, option, work)
    for option in target.options:
        try:
            return _cast(value, option, work)
        except CastError:
            continue
    raise _cannot(value, "any type of the union")


def _is(value: Any, option: Type) -> bool:
    """Whether `value` is of the option's kind already, without conversion."""
    if isinstance(option, ArrayType):
        return isinstance(value, list)
    if isinstance(option, ObjectType):
        return isinstance(value, dict)
    if isinstance(option, UnionType):
        return any(_is(value, inner) for inner in option.options)
    return option.kind == "any" or option.kind == _kind(value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _string(value: Any) -> Any:
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json_text(value)
    except TemplateError:
        raise CastError(f"a {type(value).__name__} cannot become a string: not JSON") from None


def _integer(value: Any) -> Any:
    number = _number(value)
    if not isinstance(number, float):
        return number
    if int(number) not in _INTEGERS:
        raise CastError("a number cannot become an integer: it has more than 64 bit")
    return int(number)


def _number(value: Any) -> Any:
    value = _parsed(value)
    return value if value is None else _amount(value, "a number")


def _boolean(value: Any) -> Any:
    value = _parsed(value)
    return value if value is None else _amount(value, "a boolean") != 0


def _amount(value: Any, wanted: str) -> int | float:
    """`value` as a number that JSON has and a database keeps."""
    if isinstance(value, float) and not math.isfinite(value):
        raise CastError(f"a number that is not finite cannot become {wanted}")
    if isinstance(value, int) and value not in _INTEGERS:
        raise CastError(f"an integer of more than 64 bit cannot become {wanted}")
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    raise _cannot(value, wanted)


def _null(value: Any) -> Any:
    if value is None:
        return None
    raise _cannot(value, "null")


def _parsed(value: Any) -> Any:
    """A string as the JSON value it spells, where it spells one; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except NotStrictJson:
        return value


def _cannot(value: Any, wanted: str) -> CastError:
    return CastError(f"a {_kind(value)} cannot become {wanted}")


_SCALARS: Final[dict[str, Callable[[Any], Any]]] = {
    "any": lambda value: value,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
}

"""Casting values along data edges, at run time.

In: a value and the type of the input it flows into.  Out: the value as that type, or `CastError`.

    cast(3.7, integer) -> 3      cast(["a"], string) -> '["a"]'      cast(0, boolean) -> False

Source: Agent Spec, type conversion; recursive in lists and objects.  A null stays null, except
that a string input takes it as an empty string.

A text is read as JSON only if a run can store the value: "NaN", "1e999" or an integer of more than
64 bit stay texts, and a text cannot become a number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.ports import (
    ANY,
    ArrayType,
    ObjectType,
    ScalarType,
    Type,
    TypedPort,
    UnionType,
)
from cinatra_sdk.data.work_budget import TooMuchWork, Work

_INTEGERS: Final = range(-(2**63), 2**63)
"""Integers that a run can store: signed 64 bit, as in `cinatra_sdk.data.json_values` has it."""
_MAX_STEPS: Final = 2_000_000
"""Types that one value is tried as, at all its places together."""
_LETTERS: Final = 50
"""Characters of a text that are read as JSON in one step."""
_MAX_AHEAD: Final = 2_000_000
"""Types that one value and its parts are compared with, to choose among the options of unions."""
_SCALARS_AT_ONCE: Final = 50
"""Items of a list of scalars that are looked at in one step."""
_JSON_TYPES: Final = (
    (type(None), "null"),
    (bool, "boolean"),  # before the integers, which it is one of
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
)


class CastError(ValueError):
    """The value cannot be converted; the message names both types, never the value."""


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
        return _cast_value(value, target, _CastWork())
    except TooMuchWork as stopped:
        problem = f"{_describe_kind(value)} cannot become the type of the input: {stopped}"
    raise CastError(problem)


class _CastWork(Work):
    """The budget of one cast; a budget of its own for looking ahead in the options of unions."""

    __slots__ = ("ahead",)

    def __init__(self) -> None:
        super().__init__(_MAX_STEPS)
        self.ahead = Work(_MAX_AHEAD)


def _cast_value(value: Any, target: Type, work: _CastWork) -> Any:
    if isinstance(target, ScalarType):
        return _SCALARS[target.kind](value)
    if value is None:
        return None
    if isinstance(value, str):
        # A text is read as JSON for each of the types that it is tried as.
        work.spend(1 + len(value) // _LETTERS)
    if isinstance(target, ArrayType):
        return _cast_array(value, target, work)
    if isinstance(target, ObjectType):
        return _cast_object(value, target, work)
    return _cast_union(value, target, work)


def _cast_array(value: Any, target: ArrayType, work: _CastWork) -> Any:
    value = _parse_json_text(value)
    if not isinstance(value, list):
        raise _make_cast_error(value, "an array")
    return (
        value if target.items == ANY else [_cast_value(item, target.items, work) for item in value]
    )


def _cast_object(value: Any, target: ObjectType, work: _CastWork) -> Any:
    value = _parse_json_text(value)
    if not isinstance(value, dict):
        raise _make_cast_error(value, "an object")
    if not target.properties and target.additional in (None, ANY):
        return value
    known = dict(target.properties)
    extra = target.additional
    return {
        key: _cast_value(item, known[key], work)
        if key in known
        else item
        if extra is None
        else _cast_value(item, extra, work)
        for key, item in value.items()
    }


def _cast_union(value: Any, target: UnionType, work: _CastWork) -> Any:
    work.spend(len(target.options))
    near = [option for option in target.options if _is_of_type(value, option)]
    if near:
        return _cast_value(value, near[0] if len(near) == 1 else _choose(value, near, work), work)
    for option in target.options:
        try:
            return _cast_value(value, option, work)
        except CastError:
            continue
    raise _make_cast_error(value, "any type of the union")


def _choose(value: Any, near: list[Type], work: _CastWork) -> Type:
    """The option that `value` fits as it stands, else the first: [[1]] is no list of texts.

    Looking ahead never ends the cast: a value too large for it is cast as the first option.
    """
    try:
        for option in near:
            if _fits_as_it_is(value, option, work.ahead):
                return option
    except TooMuchWork:
        pass
    return near[0]


def _fits_as_it_is(value: Any, option: Type, ahead: Work) -> bool:
    """Whether `value`, with everything in it, is of the type without conversion."""
    ahead.spend(1)
    if isinstance(option, UnionType):
        return any(_fits_as_it_is(value, inner, ahead) for inner in option.options)
    if isinstance(option, ArrayType):
        return isinstance(value, list) and _has_items(value, option.items, ahead)
    if isinstance(option, ObjectType):
        return isinstance(value, dict) and _has_members(value, option, ahead)
    return _is_of_kind(_name_json_type(type(value)), option)


def _has_items(value: list[Any], wanted: Type, ahead: Work) -> bool:
    if not isinstance(wanted, ScalarType):
        return all(_fits_as_it_is(item, wanted, ahead) for item in value)
    ahead.spend(len(value) // _SCALARS_AT_ONCE)
    return all(_is_of_kind(_name_json_type(one), wanted) for one in set(map(type, value)))


def _has_members(value: dict[str, Any], option: ObjectType, ahead: Work) -> bool:
    known = dict(option.properties)
    return all(name in value for name in option.required) and all(
        wanted is not None and _fits_as_it_is(item, wanted, ahead)
        for name, item in value.items()
        for wanted in (known.get(name, option.additional),)
    )


def _is_of_type(value: Any, option: Type) -> bool:
    """Whether `value` itself is of the option's kind, whatever is in it."""
    if isinstance(option, ArrayType):
        return isinstance(value, list)
    if isinstance(option, ObjectType):
        return isinstance(value, dict)
    if isinstance(option, UnionType):
        return any(_is_of_type(value, inner) for inner in option.options)
    return _is_of_kind(_name_json_type(type(value)), option)


def _is_of_kind(name: str, option: ScalarType) -> bool:
    """Whether a value of the JSON type `name` is one of the option; every integer is a number."""
    return option.kind in {"any", name} or (option.kind, name) == ("number", "integer")


def _name_json_type(python: type) -> str:
    """The JSON type of values of a Python type."""
    return next((name for base, name in _JSON_TYPES if issubclass(python, base)), "object")


def _cast_string(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        # With blanks, as the other runtimes of the language write it.
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise CastError(f"a {type(value).__name__} cannot become a string: not JSON") from None


def _cast_integer(value: Any) -> Any:
    number = _cast_number(value)
    if not isinstance(number, float):
        return number
    if int(number) not in _INTEGERS:
        raise CastError("a number cannot become an integer: it has more than 64 bit")
    return int(number)


def _cast_number(value: Any) -> Any:
    value = _parse_json_text(value)
    return value if value is None else _check_number(value, "a number")


def _cast_boolean(value: Any) -> Any:
    value = _parse_json_text(value)
    return value if value is None else _check_number(value, "a boolean") != 0


def _check_number(value: Any, wanted: str) -> int | float:
    """`value` as a number that JSON has and a database keeps."""
    if isinstance(value, float) and not math.isfinite(value):
        raise CastError(f"a number that is not finite cannot become {wanted}")
    if isinstance(value, int) and value not in _INTEGERS:
        raise CastError(f"an integer of more than 64 bit cannot become {wanted}")
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    raise _make_cast_error(value, wanted)


def _cast_null(value: Any) -> Any:
    if value is None:
        return None
    raise _make_cast_error(value, "null")


def _parse_json_text(value: Any) -> Any:
    """A string as the JSON value it spells, where it spells one; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except NotStrictJson:
        return value


def _make_cast_error(value: Any, wanted: str) -> CastError:
    return CastError(f"{_describe_kind(value)} cannot become {wanted}")


def _describe_kind(value: Any) -> str:
    """The JSON type of a value with its article: `an object`."""
    name = _name_json_type(type(value))
    return name if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}"


_SCALARS: Final[dict[str, Callable[[Any], Any]]] = {
    "any": lambda value: value,
    "string": _cast_string,
    "integer": _cast_integer,
    "number": _cast_number,
    "boolean": _cast_boolean,
    "null": _cast_null,
}


# ----------------------------------------------------------------------------
# A value that a tool, a server or an agent gave for an output, as the output's type.
#
#     cast_result(port("n", INTEGER), "7")               7
#     cast_result(port("n", INTEGER), None)              CastError: null cannot become an integer
#     cast_result(port("n", INTEGER, default=1), None)   1
#
# Unlike along an edge, null is no value of a type that has no null: whoever gave it had nothing to give.
# A text is the exception, as everywhere: null is the empty one.


_MOST_STEPS: Final = 1_000_000
_WITHOUT_NULL: Final = {"integer": "an integer", "number": "a number", "boolean": "a boolean"}


def cast_result(port: TypedPort, value: Any) -> Any:
    """Raises: `CastError`."""
    if value is None and port.default is not None and _find_problem(None, port.type):
        return port.default.value()
    found = cast(value, port.type)
    problem = _find_problem(found, port.type)
    if problem:
        raise CastError(problem)
    return found


def _find_problem(value: Any, wanted: Type) -> str:
    """What is wrong; empty: there is no null where none may be."""
    if isinstance(wanted, ScalarType) and value is not None:
        return ""
    try:
        missing = _find_null(value, wanted, Work(_MOST_STEPS))
    except TooMuchWork as stopped:
        return f"the value cannot be looked through: {stopped}"
    return f"null cannot become {missing}" if missing else ""


def _find_null(value: Any, wanted: Type, work: Work) -> str:
    """What a null in the value stands for; empty: there is none where none may be."""
    work.spend(1)
    if wanted == ANY:
        return ""
    if isinstance(wanted, UnionType):
        near = [one for one in wanted.options if value is None or _is_near(value, one)]
        found = [_find_null(value, option, work) for option in near]
        return found[0] if found and all(found) else ""
    if isinstance(wanted, ScalarType):
        return _WITHOUT_NULL.get(wanted.kind, "") if value is None else ""
    if value is None:
        return "an array" if isinstance(wanted, ArrayType) else "an object"
    if isinstance(wanted, ArrayType):
        return _find_first(((one, wanted.items) for one in value), work)
    known, extra = dict(wanted.properties), wanted.additional or ANY
    return _find_first(((one, known.get(name, extra)) for name, one in value.items()), work)


def _find_first(members: Iterable[tuple[Any, Type]], work: Work) -> str:
    return next(filter(None, (_find_null(value, of, work) for value, of in members)), "")


def _is_near(value: Any, option: Type) -> bool:
    """Whether the value may be one of the option, by its kind."""
    if isinstance(option, ArrayType):
        return isinstance(value, list)
    if isinstance(option, ObjectType):
        return isinstance(value, dict)
    return isinstance(option, UnionType) or option == ANY or not isinstance(value, (list, dict))

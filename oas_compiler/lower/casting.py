"""Casting values along data edges, at run time.

In: a value and the type of the input it flows into.  Out: the value as that type, or `CastError`.

    cast(3.7, integer) -> 3      cast(["a"], string) -> '["a"]'      cast(0, boolean) -> False

Source: Agent Spec, type conversion; recursive in lists and objects.  A null stays null, except
that a string input takes it as an empty string.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from oas_compiler.ir import ANY, ArrayType, ObjectType, ScalarType, Type, UnionType


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
    if value is None:
        return None
    if isinstance(target, ArrayType):
        return _array(value, target)
    if isinstance(target, ObjectType):
        return _object(value, target)
    return _union(value, target)


def _array(value: Any, target: ArrayType) -> Any:
    value = _parsed(value)
    if not isinstance(value, list):
        raise _cannot(value, "an array")
    return value if target.items == ANY else [cast(item, target.items) for item in value]


def _object(value: Any, target: ObjectType) -> Any:
    value = _parsed(value)
    if not isinstance(value, dict):
        raise _cannot(value, "an object")
    if not target.properties and target.additional in (None, ANY):
        return value
    known = dict(target.properties)
    extra = target.additional
    return {
        key: cast(item, known[key])
        if key in known
        else item
        if extra is None
        else cast(item, extra)
        for key, item in value.items()
    }


def _union(value: Any, target: UnionType) -> Any:
    for option in target.options:
        if _is(value, option):
            return cast(value, option)
    for option in target.options:
        try:
            return cast(value, option)
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
    return "" if value is None else json_text(value)


def _integer(value: Any) -> Any:
    number = _number(value)
    return int(number) if isinstance(number, float) else number


def _number(value: Any) -> Any:
    value = _parsed(value)
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (int, float)):
        return value
    raise _cannot(value, "a number")


def _boolean(value: Any) -> Any:
    value = _parsed(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value != 0
    raise _cannot(value, "a boolean")


def _null(value: Any) -> Any:
    if value is None:
        return None
    raise _cannot(value, "null")


def _parsed(value: Any) -> Any:
    """A string as the JSON value it spells, where it spells one; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def json_text(value: Any) -> str:
    """JSON text as it stands inside strings of a flow: compact, keys in order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


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

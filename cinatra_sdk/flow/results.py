"""A value that a tool, a server or an agent gave for an output, as the output's type.

    cast_result(port("n", INTEGER), "7")               7
    cast_result(port("n", INTEGER), None)              CastError: null cannot become an integer
    cast_result(port("n", INTEGER, default=1), None)   1

Unlike along an edge, null is no value of a type that has no null: whoever gave it had nothing to give.
A text is the exception, as everywhere: null is the empty one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.types import ANY, ArrayType, ObjectType, ScalarType, Type, UnionType
from cinatra_sdk.values.work import TooMuchWork, Work

_MOST_STEPS: Final = 1_000_000
_WITHOUT_NULL: Final = {"integer": "an integer", "number": "a number", "boolean": "a boolean"}


def cast_result(port: TypedPort, value: Any) -> Any:
    """Raises: `CastError`."""
    if (
        value is None
        and port.default is not None
        and _find_null(None, port.type, Work(_MOST_STEPS))
    ):
        return port.default.value()
    found = cast(value, port.type)
    try:
        missing = _find_null(found, port.type, Work(_MOST_STEPS))
    except TooMuchWork as stopped:
        problem = f"the value cannot be looked through: {stopped}"
    else:
        if not missing:
            return found
        problem = f"null cannot become {missing}"
    raise CastError(problem)


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

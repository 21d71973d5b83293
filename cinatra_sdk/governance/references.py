"""Values that a plan takes from results of earlier steps.

{"amount_inr": {"$from": "look_up/total"}}     the member `total` of what the step `look_up` gave
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

FROM: Final = "$from"


class Unresolved(LookupError):
    """A reference to a step that gave nothing of the kind; says which."""


def list_steps(value: Any) -> set[str]:
    """The steps to which a value refers."""
    if isinstance(value, Mapping):
        path = value.get(FROM)
        if set(value) == {FROM} and isinstance(path, str):
            return {path.partition("/")[0]}
        return {step for one in value.values() for step in list_steps(one)}
    if isinstance(value, (list, tuple)):
        return {step for one in value for step in list_steps(one)}
    return set()


def is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {FROM} and isinstance(value[FROM], str)


def find_literal(value: Any, place: str = "", *, counts_empty: bool = True) -> str | None:
    """The place of the first value that is no reference; None where all are.  `place` is that of `value`.

    counts_empty: whether an empty list or object below a name is such a value, too.
    """
    if counts_empty and place and isinstance(value, (Mapping, list, tuple)) and not value:
        return place
    if isinstance(value, Mapping):
        if is_reference(value):
            return None
        inside = [(f"{place}/{key}".lstrip("/"), one) for key, one in value.items()]
    elif isinstance(value, (list, tuple)):
        inside = [(f"{place}/{index}", one) for index, one in enumerate(value)]
    else:
        return place
    found = (find_literal(one, at, counts_empty=counts_empty) for at, one in inside)
    return next((one for one in found if one is not None), None)


def fill_references(value: Any, results: Mapping[str, Any]) -> Any:
    """The value with results in place of references; plain JSON.

    results: what each step gave.  Raises: `Unresolved`.
    """
    if isinstance(value, Mapping):
        path = value.get(FROM)
        if set(value) == {FROM} and isinstance(path, str):
            return _look_up(path, results)
        return {key: fill_references(one, results) for key, one in value.items()}
    return (
        [fill_references(one, results) for one in value]
        if isinstance(value, (list, tuple))
        else value
    )


def _look_up(path: str, results: Mapping[str, Any]) -> Any:
    step, *parts = path.split("/")
    if step not in results:
        raise Unresolved(f"'{path[:100]}': the step has given nothing")
    found = results[step]
    for part in parts:
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, (list, tuple)) and _is_place(part, found):
            found = found[int(part)]
        else:
            raise Unresolved(f"'{path[:100]}': there is no '{part[:60]}'")
    return found


def _is_place(part: str, found: Sequence[Any]) -> bool:
    """Whether digits, of which Python reads no more than a few thousand, name an element."""
    return part.isdecimal() and len(part) <= len(str(len(found))) and int(part) < len(found)

r"""The values that a run may hold: JSON that every database and every reader can store.

In: a value from a caller, a platform, a tool or a person.  Out: nothing, or `ValueRefused`
that names the place inside the value.

    check_value({"note": "a\x00b"}, where="input 'form'")
        -> ValueRefused: input 'form' /note holds a NUL character …

Postgres refuses a NUL, msgpack an integer over 64 bit, JSON a NaN; such a value would end a run for
good at its next checkpoint, so it is refused where it enters.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from pydantic import JsonValue

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.langgraph_internals.keys import INSTRUCTIONS

MAX_DEPTH: Final = 64
MAX_STRING: Final = 1_000_000
"""Characters of one string."""
MAX_ITEMS: Final = 200_000
"""Members and elements of one value, all levels together."""
_INT_LIMIT: Final = 2**63
_MOST_READ: Final = 2_000_000
"""Members of a value of which a run may keep a part."""
SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""Types of JSON values that hold no other."""
_STRING: Final = re.compile('"[^"]*"?')
"""Of a text without letters that are escaped."""


def check_value(value: object, *, where: str) -> None:
    """Raise `ValueRefused` unless `value` is JSON within the bounds of this module."""
    stack: list[tuple[object, str, int]] = [(value, "", 0)]
    budget = MAX_ITEMS
    while stack:
        item, pointer, depth = stack.pop()
        if isinstance(item, str):
            _check_string(item, where, pointer)
        elif item is None or isinstance(item, (bool, int, float)):
            _check_number(item, where, pointer)
        elif isinstance(item, (dict, list, tuple, Mapping)):
            if depth >= MAX_DEPTH:
                raise _make_refusal(where, pointer, f"is nested deeper than {MAX_DEPTH} levels")
            budget -= len(item)
            if budget < 0:
                raise _make_refusal(where, pointer, f"has more than {MAX_ITEMS} members")
            stack.extend(_list_members(item, where, pointer, depth + 1))
        else:
            raise _make_refusal(where, pointer, f"is a {type(item).__name__}, which is not JSON")


def bring_into_json_form(value: Any, *, where: str) -> Any:
    """`value` with lists for its tuples and dicts for its mappings; any other object stays.

    Raises: `ValueRefused` where it nests too deep, as what holds itself does, or has too many
    members.
    """
    return value if _is_in_json_form(value, where) else _make_json_form(value)


def _is_in_json_form(value: Any, where: str) -> bool:
    stack = [(value, 0)]
    budget = _MOST_READ
    is_so = True
    while stack:
        item, depth = stack.pop()
        is_mapping = type(item) is dict or isinstance(item, Mapping)
        if not is_mapping and not isinstance(item, (list, tuple)):
            continue
        if depth >= MAX_DEPTH:
            raise _make_refusal(where, "", f"is nested deeper than {MAX_DEPTH} levels")
        budget -= len(item)
        if budget < 0:
            raise _make_refusal(where, "", f"has more than {_MOST_READ} members")
        is_so = is_so and type(item) in (dict, list)
        members = item.values() if is_mapping else item
        stack += [(one, depth + 1) for one in members if type(one) not in SCALARS]
    return is_so


def _make_json_form(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _make_json_form(one) for key, one in value.items()}
    return [_make_json_form(one) for one in value] if isinstance(value, (list, tuple)) else value


def _list_members(
    item: list[object] | tuple[object, ...] | Mapping[object, object],
    where: str,
    pointer: str,
    depth: int,
) -> list[tuple[object, str, int]]:
    if not isinstance(item, (dict, Mapping)):
        return [
            (child, f"{pointer}/{i}", depth)
            for i, child in enumerate(item)
            if not (type(child) is str and _is_plain_string(child))
        ]
    members: list[tuple[object, str, int]] = []
    for key, child in item.items():
        if not isinstance(key, str):
            raise _make_refusal(where, pointer, f"has the key {key!r}, which is not a string")
        if not _is_plain_string(key):
            _check_string(key, where, pointer)
        if key.startswith(INSTRUCTIONS):
            raise _make_refusal(
                where, pointer, f"has the key {key!r}, which is reserved for the engine"
            )
        if type(child) is str and _is_plain_string(child):
            continue  # most members of most values: nothing to say about its place
        members.append((child, f"{pointer}/{key}", depth))
    if item.get("type") == "__overwrite__":
        raise _make_refusal(where, pointer, "has the type '__overwrite__', reserved for the engine")
    return members


def _check_number(item: float | None, where: str, pointer: str) -> None:
    if isinstance(item, float):
        if not math.isfinite(item):
            raise _make_refusal(where, pointer, "holds a number that JSON does not have")
    elif item is not None and not -_INT_LIMIT <= item < _INT_LIMIT:
        raise _make_refusal(where, pointer, "holds an integer of more than 64 bit")


def _is_plain_string(text: str) -> bool:
    return text.isascii() and len(text) <= MAX_STRING and "\x00" not in text


def _check_string(text: str, where: str, pointer: str) -> None:
    if len(text) > MAX_STRING:
        raise _make_refusal(where, pointer, f"holds a string of more than {MAX_STRING} characters")
    if "\x00" in text:
        raise _make_refusal(where, pointer, "holds a NUL character")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise _make_refusal(where, pointer, "holds a lone surrogate") from None


def _make_refusal(where: str, pointer: str, rule: str) -> ValueRefused:
    place = f"{where} {pointer[:200]}" if pointer else where
    return ValueRefused(f"{place} {rule}")


# ----------------------------------------------------------------------------
# JSON text that a person or a caller sends, read strictly.
#
#     read_json('{"a": 1}')                                    {"a": 1}
#     read_json('{"a": NaN}'), '1e999', '{"a": 1, "a": 2}'     NotStrictJson
#
# Refused are numbers that JSON lacks or no database stores, repeated names, and halves of surrogate
# pairs: two readers could read such a text differently.


class NotStrictJson(ValueError):
    """The text is no JSON, or not JSON in one reading only; says why without quoting it."""


def read_json(text: str, *, to_keep: bool = True, where: str = "the text") -> JsonValue:
    """The value of `text`; where: what errors call the text.

    to_keep: whether the value is kept somewhere; otherwise letters that no database takes may stand
             in it, and whoever compares them with what is kept finds nothing.
    Raises: `NotStrictJson`.
    """
    problem = ""
    try:
        _require_few(text, MAX_ITEMS if to_keep else _MOST_READ, where)
        value: JsonValue = json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_parse_finite_float,
            object_pairs_hook=_once_each,
        )
        if to_keep:
            check_value(value, where=where)
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        problem = "it is nested too deeply"
    except (NotStrictJson, ValueRefused) as error:
        problem = str(error)
    except ValueError:
        problem = "a number is out of bounds"
    else:
        return value
    # Raised here, not in a handler: what was caught may hold the whole text.
    raise NotStrictJson(problem)


def _require_few(text: str, most: int, where: str) -> None:
    """Refuse a text of more members before any is made: each takes 20 times the memory of its letters.

    A value has more members than its text has commas outside of strings.
    """
    if text.count(",") < most:
        return
    bare = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    if bare.count(",") >= most:
        raise NotStrictJson(f"{where} has more than {most} members")


def _no_constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is not JSON")


def _parse_finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrictJson("a number is out of bounds")
    return number


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise NotStrictJson(f"the name {twice[:80]!r} is said twice")
    return made

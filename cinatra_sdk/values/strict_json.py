"""JSON text that a person or a caller sends, read strictly.

    read_json('{"a": 1}')                                    {"a": 1}
    read_json('{"a": NaN}'), '1e999', '{"a": 1, "a": 2}'     NotStrictJson

Refused are numbers that JSON lacks or no database stores, repeated names, and halves of surrogate
pairs: two readers could read such a text differently.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

from pydantic import JsonValue

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.values.json_values import check_value


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

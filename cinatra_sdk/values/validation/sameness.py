"""Whether two JSON values are the same, by a key of each.

    key(1) == key(1.0)      key(True) != key(1)      key({"a": [1]}) == key({"a": [1.0]})

Keys go into sets, so that a list is looked at once, not once per element.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any, Final

from cinatra_sdk.values.work import Work

_LETTERS: Final = 100
"""Characters that are compared for one step of work."""
_WRITTEN: Final = 10_000
"""Bits of a whole number that is written in decimal: some 3,000 digits."""


def key(value: Any, work: Work) -> Hashable:
    """The same for values that JSON Schema holds to be equal, different for others.

    Raises: `TooMuchWork`.
    """
    work.spend(1)
    if isinstance(value, str):
        work.spend(len(value) // _LETTERS)
        return value
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, (dict, list)):
        # A text is hashed with a key that nobody knows; numbers and tuples are not.
        text = json.dumps(_normalize_numbers(value, work), sort_keys=True)
        work.spend(len(text) // _LETTERS)
        return "whole", text
    return "number", value


def _normalize_numbers(value: Any, work: Work) -> Any:
    """`value` with every whole number written in one way."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and value.bit_length() > _WRITTEN:
        # Python writes no longer one in decimal; no text that is kept holds a NUL.
        work.spend(value.bit_length() // _LETTERS)
        return f"\0{value:x}"
    if isinstance(value, list):
        work.spend(len(value))
        return [_normalize_numbers(item, work) for item in value]
    if isinstance(value, dict):
        work.spend(len(value))
        return {name: _normalize_numbers(member, work) for name, member in value.items()}
    return value

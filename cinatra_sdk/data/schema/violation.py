"""`Break`: the rule of a schema that a value breaks, and its place; whether two JSON values are equal."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from cinatra_sdk.data.work_budget import Work


@dataclass(slots=True, kw_only=True)
class Break:
    """The rule of a schema that a value breaks."""

    rule: str
    """The keyword; empty where the schema is `false`."""
    wanted: Any
    """What the keyword says."""
    value: Any
    schema: Any
    path: list[str | int]
    """Where in the whole value, innermost first while it is on its way out."""

    @property
    def place(self) -> list[str | int]:
        """Where in the whole value, outermost first."""
        return self.path[::-1]


class SchemaFacts(Protocol):
    """What a schema's checker knows for all values: `validation.checker.Checker`."""

    formats: Callable[[str, Any], bool] | None
    """Whether a value is of a format; None where formats are annotations."""

    def one_of(self, values: list[Any], work: Work) -> frozenset[Any]:
        """The values of an `enum`, as keys."""
        ...


class ValueCheck(Protocol):
    """One value that is being checked, as the keywords see it: `validation.checker.Check`."""

    work: Work
    resolver: Any
    left: int

    @property
    def checker(self) -> SchemaFacts: ...

    def first(self, schema: Any, value: Any) -> Break | None: ...

    def at(self, place: str | int, schema: Any, value: Any) -> Break | None: ...

    def fits(self, schema: Any, value: Any) -> bool: ...

    def matches(self, pattern: str, text: str) -> bool: ...

    def referred(self, reference: str, value: Any) -> Break | None: ...

    def follow(self, reference: str) -> Any: ...

    def deeper(self) -> None: ...


Keyword: TypeAlias = "Callable[[Any, Any, Any, Mapping[str, Any]], Break | None]"
"""(check, what the keyword says, value, the schema around it) → the rule that the value breaks."""


# ----------------------------------------------------------------------------
# Whether two JSON values are the same, by a key of each.
#
#     key(1) == key(1.0)      key(True) != key(1)      key({"a": [1]}) == key({"a": [1.0]})
#
# Keys go into sets, so that a list is looked at once, not once per element.


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

"""A type of another runtime that extends a kind of node, and when it says nothing more.

Extended("ExtendedToolNode", more={"raise_exceptions": is_on})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from oas_compiler.ir import JsonValue

Same = Callable[[JsonValue], bool]
"""Whether a value of a further field changes nothing; null stands for an absent one."""


@dataclass(frozen=True, slots=True)
class Extended:
    """How one type is read as that which it extends."""

    component_type: str
    more: Mapping[str, Same] = field(default_factory=dict)
    """Its further fields, which are left out."""
    renamed: Mapping[str, str] = field(default_factory=dict)


def is_empty(value: JsonValue) -> bool:
    return value in (None, [], {}, "")


def is_off(value: JsonValue) -> bool:
    return value in (None, False)


def is_on(value: JsonValue) -> bool:
    return value is True


def is_any(_value: JsonValue) -> bool:
    return True


def renames_nothing(value: JsonValue) -> bool:
    return value is None or (isinstance(value, dict) and all(k == v for k, v in value.items()))


MAPPINGS: Final[Mapping[str, Same]] = {
    "input_mapping": renames_nothing,
    "output_mapping": renames_nothing,
}
"""Of every node of WayFlow."""

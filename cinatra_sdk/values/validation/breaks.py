"""The rule of a schema that a value breaks, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from cinatra_sdk.values.work import Work


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

"""The rule of a schema that a value breaks, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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

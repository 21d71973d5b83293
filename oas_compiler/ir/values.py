"""Where something stands in the file, and values that are not shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cinatra_sdk.values.json_text import Json, JsonValue

SEALED: Final = "[sensitive]"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the source file."""

    pointer: str = ""
    """JSON Pointer (RFC 6901) from the document's root."""
    line: int = 0
    """1-based; 0 when the input had no text (a Python dict)."""
    column: int = 0
    """1-based, in characters; 0 when the input had no text."""


@dataclass(frozen=True, slots=True, repr=False)
class SealedJson(Json):
    """An object whose members a run sends and nobody shows; `shown` has their names."""

    def shown(self) -> dict[str, JsonValue]:
        return dict.fromkeys(self.mapping(), SEALED)

    def __repr__(self) -> str:
        return f"SealedJson({self.shown()!r})"


NOTHING_SEALED = SealedJson("{}")

"""Where something stands in the file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the source file."""

    pointer: str = ""
    """JSON Pointer (RFC 6901) from the document's root."""
    line: int = 0
    """1-based; 0 when the input had no text (a Python dict)."""
    column: int = 0
    """1-based, in characters; 0 when the input had no text."""

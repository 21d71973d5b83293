"""Ports, the inputs and outputs of nodes and flows; and places in the file."""

from __future__ import annotations

from dataclasses import field

from cinatra_sdk.data.author_json import NOTHING, Json
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Where something stands in the file.


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the source file."""

    pointer: str = ""
    """JSON Pointer (RFC 6901) from the document's root."""
    line: int = 0
    """1-based; 0 when the input had no text (a Python dict)."""
    column: int = 0
    """1-based, in characters; 0 when the input had no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port(TypedPort):
    """One input or output of a node or flow (a Property in Agent Spec).

    `schema` is the property as JSON Schema, without Agent Spec's own wrapping (`json_schema` is
    merged in).
    """

    cinatra: Json = field(default=NOTHING, compare=False)
    """What the author wrote under `cinatra`: what the value is for a host, no part of its type."""
    place: Place = Place()

"""One input or output of a node."""

from __future__ import annotations

from dataclasses import dataclass

from cinatra_sdk.values.json_text import NOTHING, Json
from cinatra_sdk.values.types import ANY, Type


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedPort:
    """An input or output of a node or flow, as a run needs it; the compiler's ports know more."""

    title: str
    """The identifier that edges and templates use."""
    type: Type = ANY
    schema: Json = NOTHING
    """JSON Schema of the value."""
    default: Json | None = None
    """`None` means that there is no default; a default of null is `Json("null")`."""

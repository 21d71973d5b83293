"""One input or output of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cinatra_sdk.values.json_text import NOTHING, Json, JsonValue
from cinatra_sdk.values.types import ANY, ArrayType, ScalarType, Type

_NO_DEFAULT: Final[Any] = object()


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

    def plain(self) -> TypedPort:
        """The same port without what only a compiler knows of it."""
        return TypedPort(title=self.title, type=self.type, schema=self.schema, default=self.default)


def port(
    title: str,
    of: Type = ANY,
    *,
    schema: Mapping[str, JsonValue] | None = None,
    default: JsonValue = _NO_DEFAULT,
) -> TypedPort:
    """A port, in short: `port("topic", STRING, default="bees")`.

    schema: JSON Schema of its values; None: that of its type, which knows scalars and lists of them.
    """
    return TypedPort(
        title=title,
        type=of,
        schema=Json.of(dict(schema) if schema is not None else describe_type(of)),
        default=None if default is _NO_DEFAULT else Json.of(default),
    )


def describe_type(of: Type) -> dict[str, JsonValue]:
    """JSON Schema of a scalar, or of a list of such; of any other type the schema of any value."""
    if isinstance(of, ScalarType) and of != ANY:
        return {"type": of.kind}
    if isinstance(of, ArrayType):
        items = describe_type(of.items)
        return {"type": "array", "items": items} if items else {"type": "array"}
    return {}

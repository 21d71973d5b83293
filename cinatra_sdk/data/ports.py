"""One input or output of a node, and the type of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from cinatra_sdk.data.author_json import NOTHING, Json, JsonValue

# ----------------------------------------------------------------------------
# Types of the values that flow along data edges.
#
#     ArrayType(ScalarType("string"))        a list of texts
#
# Source: Agent Spec, types of properties; read from JSON Schema by the compiler.


Scalar = Literal["any", "string", "integer", "number", "boolean", "null"]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type without parts; `any` accepts every JSON value."""

    kind: Scalar


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A list whose elements all have the type `items`."""

    items: Type


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object; `additional` is the type of undeclared members, `None` forbids them."""

    properties: tuple[tuple[str, Type], ...] = ()
    additional: Type | None = ScalarType("any")
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnionType:
    """`anyOf`, `oneOf` or a list of types: a value of one of the `options`."""

    options: tuple[Type, ...]


Type: TypeAlias = "ScalarType | ArrayType | ObjectType | UnionType"

ANY = ScalarType("any")
STRING = ScalarType("string")
INTEGER = ScalarType("integer")
NUMBER = ScalarType("number")
BOOLEAN = ScalarType("boolean")
NULL = ScalarType("null")


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


# ----------------------------------------------------------------------------
# How a file refers to what stands elsewhere, and how a variable of a flow goes from node to node.


REFERENCE: Final = "$component_ref"
"""The key of an object that stands for a component or a value of another place."""
REFERENCE_MARK: Final = "$component_ref "
"""Begins a text that stands for the value of a sensitive field: fields of texts hold no objects."""

VARIABLE_PORT: Final = "variable "
"""Begins the name of the port by which a variable of a flow goes from node to node."""
VARIABLE_OVERWRITE: Final = "overwrite"
VARIABLE_MERGE: Final = "merge"
VARIABLE_INSERT: Final = "insert"

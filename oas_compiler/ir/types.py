"""Types of ports, and the ports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from oas_compiler.ir.values import NOTHING, Json, Place

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One input or output of a node or flow (a Property in Agent Spec)."""

    title: str
    """The identifier that edges and templates use."""
    type: Type = ANY
    schema: Json = NOTHING
    """The property as JSON Schema, without Agent Spec's own wrapping (`json_schema` is merged in)."""
    default: Json | None = None
    """`None` means that there is no default; a default of null is `Json("null")`."""
    cinatra: Json = field(default=NOTHING, compare=False)
    """What the author wrote under `cinatra`: what the value is for a host, no part of its type."""
    place: Place = Place()

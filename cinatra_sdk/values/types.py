"""Types of the values that flow along data edges.

    ArrayType(ScalarType("string"))        a list of texts

Source: Agent Spec, types of properties; read from JSON Schema by the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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

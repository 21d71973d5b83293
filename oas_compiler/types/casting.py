"""Whether an output may feed an input: `castable(source, target)`, decided on types alone.

    castable(integer, string)            True     any value has a text
    castable(string, integer)            False    the text is not known to be a number
    castable(any, integer)               False    declare what the output is
    castable(array<object>, array<object{id: string}>)   True     looked at when the value is there

Agent Spec's castability, wider in three cases on purpose.  An object that allows undeclared members
may feed an object with named members, and an array without a type of its items (`items` absent or
`{}`) may feed any array, because real flows do so and the value is cast at run time.  A closed
object may feed an open object, because no member is lost.  The first two are those of Cinatra's files;
`strict` asks without them.

    castable(array<any>, array<integer>, strict=True)    False
"""

from __future__ import annotations

from typing import Final

from oas_compiler.ir import (
    ANY,
    STRING,
    ArrayType,
    JsonValue,
    ObjectType,
    ScalarType,
    Type,
    UnionType,
)

UNREADABLE: Final = UnionType(())
"""A type that could not be read and has its finding: it fits every type without a further
finding.
"""

_MOST_PAIRS: Final = 100_000
"""Pairs of types that are compared for one question."""
_NUMERIC = frozenset({"integer", "number", "boolean"})


class Pairs:
    """How many pairs of types may still be compared: unions of unions multiply."""

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most


def castable(
    source: Type, target: Type, pairs: Pairs | None = None, *, strict: bool = False
) -> bool:
    """Whether a value of type `source` can become one of type `target`.

    `pairs` is a budget that several questions share; when it is used up, the answer is left to the
    run.
    """
    return _is_castable(source, target, pairs or Pairs(_MOST_PAIRS), strict)


def _is_castable(source: Type, target: Type, pairs: Pairs, strict: bool) -> bool:
    pairs.left -= 1
    if pairs.left < 0:
        return True
    if target in (source, ANY) or UNREADABLE in (source, target):
        return True
    if isinstance(source, UnionType):
        return all(_is_castable(option, target, pairs, strict) for option in source.options)
    if isinstance(target, UnionType):
        return any(_is_castable(source, option, pairs, strict) for option in target.options)
    if source == ANY:
        return target == STRING
    if isinstance(target, ScalarType):
        return _to_scalar(source, target)
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        # like an open object: what it says nothing about is looked at when the value is there
        return (source.items == ANY and not strict) or _is_castable(
            source.items, target.items, pairs, strict
        )
    if isinstance(source, ObjectType) and isinstance(target, ObjectType):
        return _is_object_castable(source, target, pairs, strict)
    return False


def _to_scalar(source: Type, target: ScalarType) -> bool:
    if target.kind == "string":
        return True
    return isinstance(source, ScalarType) and {source.kind, target.kind} <= _NUMERIC


def _is_object_castable(source: ObjectType, target: ObjectType, pairs: Pairs, strict: bool) -> bool:
    has, wants = dict(source.properties), dict(target.properties)
    for name, wanted in wants.items():
        found = has.get(name, None if strict else source.additional)
        # a closed object that lacks a member can never gain it
        if found is None:
            return False
        # what an open object says nothing about is looked at when the value is there
        if not (name not in has and found == ANY) and not _is_castable(
            found, wanted, pairs, strict
        ):
            return False
    if target.additional is None:
        return source.additional is None
    if target.additional == ANY:
        return True
    extra = [kind for name, kind in has.items() if name not in wants]
    if source.additional is not None:
        extra.append(source.additional)
    return all(_is_castable(kind, target.additional, pairs, strict) for kind in extra)


def fits(value: JsonValue, kind: Type) -> bool:
    """Whether a default is of its type, as loosely as Agent Spec takes it: 2.5 is an integer too.

    Null stands for "nothing yet" in real flows, whatever the type.
    """
    if value is None or kind in (ANY, UNREADABLE):
        return True
    if isinstance(kind, UnionType):
        return any(fits(value, option) for option in kind.options)
    if isinstance(kind, ArrayType):
        return isinstance(value, list) and all(fits(item, kind.items) for item in value)
    if isinstance(kind, ObjectType):
        return isinstance(value, dict) and all(
            fits(member, wanted)
            for name, wanted in kind.properties
            if (member := value.get(name)) is not None
        )
    return castable(type_of(value), kind)


def is_of_type(value: JsonValue, kind: Type) -> bool:
    """Whether a value is of a type as it stands: nothing is converted, and 2.0 is an integer.

    As for `fits`, null is of every type.
    """
    if value is None or kind in (ANY, UNREADABLE):
        return True
    if isinstance(kind, UnionType):
        return any(is_of_type(value, option) for option in kind.options)
    if isinstance(kind, ArrayType):
        return isinstance(value, list) and all(is_of_type(item, kind.items) for item in value)
    if isinstance(kind, ObjectType):
        return isinstance(value, dict) and _has_members(value, kind)
    given = type_of(value)
    if isinstance(value, float) and kind.kind == "integer":
        return value.is_integer()
    return given == kind or (kind.kind == "number" and given == ScalarType("integer"))


def _has_members(value: dict[str, JsonValue], kind: ObjectType) -> bool:
    """Whether an object has the required members, and each member the type that is declared."""
    known = dict(kind.properties)
    return all(name in value for name in kind.required) and all(
        wanted is not None and is_of_type(member, wanted)
        for name, member in value.items()
        for wanted in (known.get(name, kind.additional),)
    )


def type_of(value: JsonValue) -> Type:
    """The narrowest type that describes one JSON value."""
    if value is None:
        return ScalarType("null")
    if isinstance(value, bool):
        return ScalarType("boolean")
    if isinstance(value, int):
        return ScalarType("integer")
    if isinstance(value, float):
        return ScalarType("number")
    if isinstance(value, str):
        return STRING
    if isinstance(value, list):
        kinds = tuple(dict.fromkeys(type_of(item) for item in value))
        if not kinds:
            return ArrayType(ANY)
        return ArrayType(kinds[0] if len(kinds) == 1 else UnionType(kinds))
    members = tuple((name, type_of(member)) for name, member in value.items())
    return ObjectType(properties=members, additional=None)


def breadth(kind: Type) -> int:
    """How many types a type is made of."""
    if isinstance(kind, ArrayType):
        return 1 + breadth(kind.items)
    if isinstance(kind, UnionType):
        return 1 + sum(map(breadth, kind.options))
    if isinstance(kind, ObjectType):
        own = 1 + sum(breadth(member) for _, member in kind.properties)
        return own if kind.additional is None else own + breadth(kind.additional)
    return 1

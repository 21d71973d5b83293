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

import json
from collections.abc import Iterable
from typing import Final, TypeAlias
from urllib.parse import unquote

from oas_compiler.ir import (
    ANY,
    STRING,
    ArrayType,
    Json,
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


# ----------------------------------------------------------------------------
# Types joined and intersected.
#
# union([string, null])                       ->  string | null
# meet_all([integer, number])                 ->  integer
# meet_all([object{a: string}, object{b: integer}])   ->  object{a: string, b: integer}
# meet_all([string, integer])                 ->  None: no value is both


_MOST_JOINED: Final = 100
"""Alternatives of two unions that are compared with each other; beyond, the first union counts."""
MOST_MEETINGS: Final = 200_000
"""Pairs of types that are intersected in one document: unions inside objects multiply."""
_MOST_PARTS: Final = 50
"""Parts of an intersection that are no objects; those beyond are left to run-time validation."""


def union(options: Iterable[Type]) -> Type:
    """One of the options; `any` where one of them is, or where there are none."""
    flat: dict[Type, None] = {}
    for option in options:
        if option == UNREADABLE:
            return UNREADABLE
        flat.update(dict.fromkeys(option.options if isinstance(option, UnionType) else (option,)))
    if not flat or ANY in flat:
        return ANY
    return next(iter(flat)) if len(flat) == 1 else UnionType(tuple(flat))


def meet_all(parts: Iterable[Type], pairs: Pairs | None = None) -> Type | None:
    """The type of values that have all these types; `None` where no value has.

    `pairs` is a budget that several questions share; where it is used up, one of two types counts.
    """
    pairs = pairs or Pairs(MOST_MEETINGS)
    said = [part for part in parts if part != ANY]
    if UNREADABLE in said:
        return UNREADABLE
    objects = [part for part in said if isinstance(part, ObjectType)]
    if objects and len(objects) == len(said):
        return _merge_objects(objects, pairs)
    met: Type | None = ANY
    for part in said[:_MOST_PARTS]:
        met = _meet_types(met, part, pairs) if met is not None else None
    return met


def _meet_types(one: Type, other: Type, pairs: Pairs) -> Type | None:
    pairs.left -= 1
    if pairs.left < 0:
        return one
    if one in (ANY, other):
        return other
    if other == ANY:
        return one
    if isinstance(one, UnionType) or isinstance(other, UnionType):
        return _meet_unions(one, other, pairs)
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        items = _meet_types(one.items, other.items, pairs)
        return None if items is None else ArrayType(items)
    if isinstance(one, ObjectType) and isinstance(other, ObjectType):
        return _merge_objects([one, other], pairs)
    if {one, other} == {ScalarType("integer"), ScalarType("number")}:
        return ScalarType("integer")
    return None


def _meet_unions(one: Type, other: Type, pairs: Pairs) -> Type | None:
    left = one.options if isinstance(one, UnionType) else (one,)
    right = other.options if isinstance(other, UnionType) else (other,)
    if len(left) * len(right) > _MOST_JOINED:
        return one
    met = [both for a in left for b in right if (both := _meet_types(a, b, pairs)) is not None]
    return union(met) if met else None


def _merge_objects(objects: list[ObjectType], pairs: Pairs) -> ObjectType | None:
    """One object with the members of all; `None` where a member has two types that exclude each other."""
    members: dict[str, Type] = {}
    additional: Type | None = ANY
    for kind in objects:
        for name, wanted in kind.properties:
            both = _meet_types(members.get(name, ANY), wanted, pairs)
            if both is None:
                return None
            members[name] = both
        closed = kind.additional is None or additional is None
        additional = (
            None if closed else _meet_types(additional or ANY, kind.additional or ANY, pairs)
        )
    return ObjectType(
        properties=tuple(members.items()),
        additional=additional,
        required=tuple(dict.fromkeys(name for kind in objects for name in kind.required)),
    )


# ----------------------------------------------------------------------------
# References inside one schema: `#/$defs/Name` in, the definition out.
#
#     definition({"$defs": {"Id": {"type": "string"}}}, "#/$defs/Id")   ->   {"type": "string"}
#     definition({…}, "#/$defs/Od")                                     ->   None
#
# Nothing outside the schema is ever looked at.


def is_local(reference: str) -> bool:
    return reference.startswith("#")


def definition(root: JsonValue, reference: str) -> JsonValue:
    """The definition of a local reference; `None` where there is none."""
    fragment = unquote(reference.removeprefix("#"))
    if fragment and not fragment.startswith("/"):
        return _find_anchored_schema(root, fragment)
    current = root
    for part in fragment.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(current, dict) and key in current:
            current = current[key]
        elif isinstance(current, list) and key.isdecimal() and len(key) < 8:
            index = int(key)
            if index >= len(current):
                return None
            current = current[index]
        else:
            return None
    return current


def definition_names(root: JsonValue) -> list[str]:
    """The references that would lead somewhere, for a hint."""
    if not isinstance(root, dict):
        return []
    return [
        f"#/{key}/{name}"
        for key in ("$defs", "definitions")
        if isinstance(block := root.get(key), dict)
        for name in block
    ]


def _find_anchored_schema(root: JsonValue, anchor: str) -> JsonValue:
    """The definition that is marked `"$anchor": …`."""
    block = root.get("$defs") if isinstance(root, dict) else None
    for value in block.values() if isinstance(block, dict) else ():
        if isinstance(value, dict) and value.get("$anchor") == anchor:
            return value
    return None


# ----------------------------------------------------------------------------
# The values that a schema allows by name: `enum` and `const`, compared between two ports.
#
#     {"enum": ["green", "blue"]}  and  {"enum": ["red", "white"]}    ->  no value in common
#     {"const": 1}                 and  {"type": "string", "enum": ["1"]}    ->  the text "1"
#
# In: the schemas of an output and an input.  Out: whether some value of the one is, as it is or
# cast, a value of the other; a schema that names no values meets every other.


_MOST_REFERENCES: Final = 20
"""References that lead to references, followed for one schema."""
_MOST_LISTS: Final = 64
"""Lists of lists whose elements are compared."""


Choices: TypeAlias = "tuple[frozenset[str] | None, ...]"
"""Allowed values, in all their spellings, of a schema, of its elements, of their elements, …;
`None` where no values are named."""


def choices_of(schema: Json) -> Choices:
    """What a schema allows by name; empty for most."""
    # most schemas name no values, and decoding them would cost more than looking
    if '"enum"' not in schema.text and '"const"' not in schema.text:
        return ()
    root = schema.value()
    current, levels = root, []
    # a list of itself goes on for ever
    for _ in range(_MOST_LISTS):
        current = _resolve_reference(current, root)
        if not isinstance(current, dict):
            break
        levels.append(_read_enum_spellings(current))
        current = current.get("items")
    return tuple(levels)


def choices_meet(source: Choices, target: Choices) -> bool:
    """Whether the two have an allowed value in common, also in their elements."""
    return not any(
        gives is not None and takes is not None and gives.isdisjoint(takes)
        for gives, takes in zip(source, target, strict=False)
    )


def _resolve_reference(schema: JsonValue, root: JsonValue) -> JsonValue:
    """The definition that a schema stands for; a chain that is too long stands for anything."""
    for _ in range(_MOST_REFERENCES):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not is_local(reference):
            return schema
        schema = definition(root, reference)
    return None


def _read_enum_spellings(schema: dict[str, JsonValue]) -> frozenset[str] | None:
    named: list[JsonValue] = []
    if "const" in schema:
        named = [schema["const"]]
    elif isinstance(given := schema.get("enum"), list):
        named = given
    return frozenset(spelling for value in named for spelling in _list_spellings(value)) or None


def _list_spellings(value: JsonValue) -> tuple[str, ...]:
    """The texts that a value has when it is cast: `true` is 1 and "true", 2.0 is 2."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bool):
        return (json.dumps(value), str(int(value)))
    if isinstance(value, float) and value.is_integer():
        return (json.dumps(value), str(int(value)))
    if value is None:
        return ("null", "")
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")),)

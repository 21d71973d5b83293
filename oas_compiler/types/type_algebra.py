"""Types joined and intersected.

union([string, null])                       ->  string | null
meet_all([integer, number])                 ->  integer
meet_all([object{a: string}, object{b: integer}])   ->  object{a: string, b: integer}
meet_all([string, integer])                 ->  None: no value is both
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from oas_compiler.ir import ANY, ArrayType, ObjectType, ScalarType, Type, UnionType
from oas_compiler.types.casting import UNREADABLE, Pairs

_MOST_PAIRS: Final = 100
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
    if len(left) * len(right) > _MOST_PAIRS:
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

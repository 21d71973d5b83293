"""Which output may feed which input: `castable(source, target)`, decided on types alone.

    castable(integer, string)            True     any value has a text
    castable(string, integer)            False    the text is not known to be a number
    castable(any, integer)               True     checked when the value is there
    castable(array<object>, array<object{id: string}>)   True, for the same reason

Agent Spec's castability, with one difference on purpose: a type that says nothing (`any`, an
object with undeclared members) may feed a type that says more, because real flows do so and
the value is validated at run time.  Refused is only what no value could survive.
"""

from __future__ import annotations

from oas_compiler.ir import ANY, ArrayType, JsonValue, ObjectType, ScalarType, Type, UnionType

_NUMERIC = frozenset({"integer", "number", "boolean"})


def castable(source: Type, target: Type) -> bool:
    """Whether a value of type `source` can become one of type `target`."""
    if ANY in (source, target) or source == target:
        return True
    if isinstance(source, UnionType):
        return all(castable(option, target) for option in source.options)
    if isinstance(target, UnionType):
        return any(castable(source, option) for option in target.options)
    if isinstance(target, ScalarType):
        return _to_scalar(source, target)
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return castable(source.items, target.items)
    if isinstance(source, ObjectType) and isinstance(target, ObjectType):
        return _object(source, target)
    return False


def _to_scalar(source: Type, target: ScalarType) -> bool:
    if target.kind == "string":
        return True
    return isinstance(source, ScalarType) and {source.kind, target.kind} <= _NUMERIC


def _object(source: ObjectType, target: ObjectType) -> bool:
    has, wants = dict(source.properties), dict(target.properties)
    for name, wanted in wants.items():
        found = has.get(name, source.additional)
        if found is not None and not castable(found, wanted):
            return False
        # a closed object that lacks a member can never gain it
        if found is None and name in target.required:
            return False
    extra = [kind for name, kind in has.items() if name not in wants]
    if target.additional is None:
        return not extra
    if source.additional is not None:
        extra.append(source.additional)
    return all(castable(kind, target.additional) for kind in extra)


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
        return ScalarType("string")
    if isinstance(value, list):
        kinds = tuple(dict.fromkeys(type_of(item) for item in value))
        if not kinds:
            return ArrayType(ANY)
        return ArrayType(kinds[0] if len(kinds) == 1 else UnionType(kinds))
    members = tuple((name, type_of(member)) for name, member in value.items())
    return ObjectType(properties=members, additional=None)


def shown(kind: Type) -> str:
    """A type as people write it: `array<string>`, `object{id: string}`, `integer | null`."""
    if isinstance(kind, ScalarType):
        return kind.kind
    if isinstance(kind, ArrayType):
        return f"array<{shown(kind.items)}>"
    if isinstance(kind, UnionType):
        return " | ".join(shown(option) for option in kind.options)
    members = ", ".join(f"{name}: {shown(member)}" for name, member in kind.properties)
    return f"object{{{members}}}" if members else "object"

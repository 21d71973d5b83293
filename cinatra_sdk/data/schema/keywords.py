"""The rule of each keyword of JSON Schema (Draft 2020-12), and `Break`, a rule that a value breaks.

In: the check, the value of the keyword, the checked value, the schema around it.  Out: the first `Break`.

A keyword that says nothing about a value's type lets the value pass.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, Protocol, TypeAlias

from cinatra_sdk.data.work_budget import Work
from cinatra_sdk.light_imports.records import dataclass


@dataclass(slots=True, kw_only=True)
class Break:
    """The rule of a schema that a value breaks."""

    rule: str
    """The keyword; empty where the schema is `false`."""
    wanted: Any
    """What the keyword says."""
    value: Any
    schema: Any
    path: list[str | int]
    """Where in the whole value, innermost first while it is on its way out."""

    @property
    def place(self) -> list[str | int]:
        """Where in the whole value, outermost first."""
        return self.path[::-1]


class SchemaFacts(Protocol):
    """What a schema's checker knows for all values: `validation.checker.Checker`."""

    formats: Callable[[str, Any], bool] | None
    """Whether a value is of a format; None where formats are annotations."""

    def one_of(self, values: list[Any], work: Work) -> frozenset[Any]:
        """The values of an `enum`, as keys."""
        ...


class ValueCheck(Protocol):
    """One value that is being checked, as the keywords see it: `validation.checker.Check`."""

    work: Work
    resolver: Any
    left: int

    @property
    def checker(self) -> SchemaFacts: ...

    def first(self, schema: Any, value: Any) -> Break | None: ...

    def at(self, place: str | int, schema: Any, value: Any) -> Break | None: ...

    def fits(self, schema: Any, value: Any) -> bool: ...

    def matches(self, pattern: str, text: str) -> bool: ...

    def referred(self, reference: str, value: Any) -> Break | None: ...

    def follow(self, reference: str) -> Any: ...

    def deeper(self) -> None: ...


Keyword: TypeAlias = "Callable[[Any, Any, Any, Mapping[str, Any]], Break | None]"
"""(check, what the keyword says, value, the schema around it) → the rule that the value breaks."""


# ----------------------------------------------------------------------------
# Whether two JSON values are the same, by a key of each.
#
#     key(1) == key(1.0)      key(True) != key(1)      key({"a": [1]}) == key({"a": [1.0]})
#
# Keys go into sets, so that a list is looked at once, not once per element.


_LETTERS: Final = 100
"""Characters that are compared for one step of work."""
_WRITTEN: Final = 10_000
"""Bits of a whole number that is written in decimal: some 3,000 digits."""


def key(value: Any, work: Work) -> Hashable:
    """The same for values that JSON Schema holds to be equal, different for others.

    Raises: `TooMuchWork`.
    """
    work.spend(1)
    if isinstance(value, str):
        work.spend(len(value) // _LETTERS)
        return value
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, (dict, list)):
        # A text is hashed with a key that nobody knows; numbers and tuples are not.
        text = json.dumps(_normalize_numbers(value, work), sort_keys=True)
        work.spend(len(text) // _LETTERS)
        return "whole", text
    return "number", value


def _normalize_numbers(value: Any, work: Work) -> Any:
    """`value` with every whole number written in one way."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and value.bit_length() > _WRITTEN:
        # Python writes no longer one in decimal; no text that is kept holds a NUL.
        work.spend(value.bit_length() // _LETTERS)
        return f"\0{value:x}"
    if isinstance(value, list):
        work.spend(len(value))
        return [_normalize_numbers(item, work) for item in value]
    if isinstance(value, dict):
        work.spend(len(value))
        return {name: _normalize_numbers(member, work) for name, member in value.items()}
    return value


# ----------------------------------------------------------------------------
# What of a value the keywords beside `unevaluatedProperties` and `unevaluatedItems` looked at.
#
# Read as the library `jsonschema` reads it: through references, alternatives that fit, conditions.


Schema = Mapping[str, Any]
_Own: TypeAlias = "Callable[[ValueCheck, Any, Schema], Iterator[Any]]"


def evaluated_properties(check: ValueCheck, value: dict[str, Any], schema: Any) -> set[str]:
    """Names of the members that are evaluated."""
    return _collect_evaluated(check, value, schema, _own_properties)


def evaluated_items(check: ValueCheck, value: list[Any], schema: Any) -> set[int]:
    """Indexes of the elements that are evaluated."""
    return _collect_evaluated(check, value, schema, _own_items)


def _collect_evaluated(check: ValueCheck, value: Any, schema: Any, own: _Own) -> set[Any]:
    check.work.spend(1)
    if isinstance(schema, bool):
        return set()
    check.deeper()
    before = check.resolver
    try:
        seen = set(own(check, value, schema))
        for reference in ("$ref", "$dynamicRef"):
            if reference in schema:
                seen |= _collect_evaluated(check, value, check.follow(schema[reference]), own)
                check.resolver = before
        for part in _iterate_fitting_schemas(check, value, schema):
            seen |= _collect_evaluated(check, value, part, own)
    finally:
        check.left += 1
        check.resolver = before
    check.work.spend(len(seen) // 10)
    return seen


def _iterate_fitting_schemas(check: ValueCheck, value: Any, schema: Schema) -> Iterator[Any]:
    """The schemas inside `schema` that look at the same value and that it fits."""
    for name in ("allOf", "oneOf", "anyOf"):
        for part in schema.get(name, ()):
            if check.fits(part, value):
                yield part
    if isinstance(value, dict):
        for name, part in schema.get("dependentSchemas", {}).items():
            if name in value:
                yield part
    if "if" in schema:
        holds = check.fits(schema["if"], value)
        yield from [schema["if"]] if holds else []
        yield schema.get("then" if holds else "else", True)


def _own_properties(check: ValueCheck, value: dict[str, Any], schema: Schema) -> Iterator[str]:
    yield from schema.get("properties", {}).keys() & value.keys()
    for name in ("additionalProperties", "unevaluatedProperties"):
        if name in schema:
            yield from (key for key, member in value.items() if check.fits(schema[name], member))
    for pattern in schema.get("patternProperties", ()):
        yield from (key for key in value if check.matches(pattern, key))


def _own_items(check: ValueCheck, value: list[Any], schema: Schema) -> Iterator[int]:
    if "items" in schema:
        yield from range(len(value))
        return
    yield from range(len(schema.get("prefixItems", ())))
    for name in ("contains", "unevaluatedItems"):
        if name in schema:
            yield from (i for i, item in enumerate(value) if check.fits(schema[name], item))


_BITS: Final = 1_000
"""Bits of a whole number that are worked with in one step."""


def _make_break(
    rule: str, wanted: Any, value: Any, schema: Schema, *, path: list[str | int] | None = None
) -> Break:
    return Break(rule=rule, wanted=wanted, value=value, schema=schema, path=path or [])


# ----------------------------------------------------------------------------- scalars


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _check_type(_check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    names = [wanted] if isinstance(wanted, str) else wanted
    if any(_TYPES[name](value) for name in names):
        return None
    return _make_break("type", wanted, value, schema)


def _check_enum(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if key(value, check.work) in check.checker.one_of(wanted, check.work):
        return None
    return _make_break("enum", wanted, value, schema)


def _check_const(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if key(value, check.work) == key(wanted, check.work):
        return None
    return _make_break("const", wanted, value, schema)


def _multiple_of(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not _is_number(value) or _is_multiple(check, value, wanted):
        return None
    return _make_break("multipleOf", wanted, value, schema)


def _is_multiple(check: ValueCheck, value: Any, wanted: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    check.work.spend(int(value).bit_length() // _BITS)
    above, below = _convert_to_fraction(value)
    other_above, other_below = _convert_to_fraction(wanted)
    return above * other_below % (below * other_above) == 0


def _convert_to_fraction(number: Any) -> tuple[int, int]:
    """A number as the fraction that its digits say: 0.1 is 1/10."""
    if isinstance(number, int):
        return number, 1
    return Decimal(repr(number)).as_integer_ratio()


def _make_limit_check(
    name: str, is_of: Callable[[Any], bool], breaks: Callable[[Any, Any], bool]
) -> Keyword:
    """A keyword that compares a value, or its length, with a number."""

    def look(_check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
        if is_of(value) and breaks(value, wanted):
            return _make_break(name, wanted, value, schema)
        return None

    return look


def _check_pattern(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not isinstance(value, str) or check.matches(wanted, value):
        return None
    return _make_break("pattern", wanted, value, schema)


def _check_format(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    formats = check.checker.formats
    if formats is None or formats(wanted, value):
        return None
    return _make_break("format", wanted, value, schema)


# ----------------------------------------------------------------------------- objects


def _check_properties(check: ValueCheck, wanted: Any, value: Any, _schema: Schema) -> Break | None:
    if not isinstance(value, dict):
        return None
    check.work.spend(len(wanted) // 10)
    for name, part in wanted.items():
        if name in value:
            found = check.at(name, part, value[name])
            if found is not None:
                return found
    return None


def _pattern_properties(
    check: ValueCheck, wanted: Any, value: Any, _schema: Schema
) -> Break | None:
    if not isinstance(value, dict):
        return None
    for pattern, part in wanted.items():
        for name, member in value.items():
            if check.matches(pattern, name):
                found = check.at(name, part, member)
                if found is not None:
                    return found
    return None


def _additional_properties(
    check: ValueCheck, wanted: Any, value: Any, schema: Schema
) -> Break | None:
    if not isinstance(value, dict):
        return None
    check.work.spend(len(value) // 10)
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, member in value.items():
        if name in known or any(check.matches(pattern, name) for pattern in patterns):
            continue
        if wanted is False:
            return _make_break("additionalProperties", wanted, value, schema)
        found = check.at(name, wanted, member)
        if found is not None:
            return found
    return None


def _property_names(check: ValueCheck, wanted: Any, value: Any, _schema: Schema) -> Break | None:
    if not isinstance(value, dict):
        return None
    for name in value:
        found = check.first(wanted, name)
        if found is not None:
            return found
    return None


def _check_required(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    check.work.spend(len(wanted) // 10)
    if not isinstance(value, dict) or all(name in value for name in wanted):
        return None
    return _make_break("required", wanted, value, schema)


def _dependent_required(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not isinstance(value, dict):
        return None
    for name, others in wanted.items():
        check.work.spend(1 + len(others) // 10)
        if name in value and not all(other in value for other in others):
            return _make_break("dependentRequired", wanted, value, schema)
    return None


def _dependent_schemas(check: ValueCheck, wanted: Any, value: Any, _schema: Schema) -> Break | None:
    if not isinstance(value, dict):
        return None
    for name, part in wanted.items():
        check.work.spend(1)
        found = check.first(part, value) if name in value else None
        if found is not None:
            return found
    return None


def _unevaluated_properties(
    check: ValueCheck, wanted: Any, value: Any, schema: Schema
) -> Break | None:
    if not isinstance(value, dict):
        return None
    seen = evaluated_properties(check, value, schema)
    for name, member in value.items():
        if name not in seen and not check.fits(wanted, member):
            return _make_break("unevaluatedProperties", wanted, value, schema)
    return None


# ----------------------------------------------------------------------------- arrays


def _check_items(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not isinstance(value, list):
        return None
    first = len(schema.get("prefixItems", ()))
    if wanted is False:
        return _make_break("items", wanted, value, schema) if len(value) > first else None
    for index in range(first, len(value)):
        found = check.at(index, wanted, value[index])
        if found is not None:
            return found
    return None


def _prefix_items(check: ValueCheck, wanted: Any, value: Any, _schema: Schema) -> Break | None:
    if not isinstance(value, list):
        return None
    for index, (item, part) in enumerate(zip(value, wanted, strict=False)):
        found = check.at(index, part, item)
        if found is not None:
            return found
    return None


def _check_contains(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not isinstance(value, list):
        return None
    least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
    matches = 0
    for item in value:
        matches += check.fits(wanted, item)
        if matches > most:
            return _make_break("maxContains", most, value, schema)
    if matches >= least:
        return None
    return _make_break(
        "minContains" if matches else "contains", least if matches else wanted, value, schema
    )


def _unique_items(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not wanted or not isinstance(value, list):
        return None
    keys = {key(item, check.work) for item in value}
    return None if len(keys) == len(value) else _make_break("uniqueItems", wanted, value, schema)


def _unevaluated_items(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    if not isinstance(value, list):
        return None
    seen = evaluated_items(check, value, schema)
    if all(index in seen for index in range(len(value))):
        return None
    return _make_break("unevaluatedItems", wanted, value, schema)


# ----------------------------------------------------------------------------- combining


def _check_ref(check: ValueCheck, wanted: Any, value: Any, _schema: Schema) -> Break | None:
    return check.referred(wanted, value)


def _all_of(check: ValueCheck, wanted: Any, value: Any, _schema: Schema) -> Break | None:
    for part in wanted:
        found = check.first(part, value)
        if found is not None:
            return found
    return None


def _any_of(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    for part in wanted:
        if check.first(part, value) is None:
            return None
    return _make_break("anyOf", wanted, value, schema)


def _one_of(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    fitting = 0
    for part in wanted:
        fitting += check.first(part, value) is None
    return None if fitting == 1 else _make_break("oneOf", wanted, value, schema)


def _check_not(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    return _make_break("not", wanted, value, schema) if check.fits(wanted, value) else None


def _check_if(check: ValueCheck, wanted: Any, value: Any, schema: Schema) -> Break | None:
    way = "then" if check.fits(wanted, value) else "else"
    return check.first(schema[way], value) if way in schema else None


KEYWORDS: Final[Mapping[str, Keyword]] = {
    "$ref": _check_ref,
    "$dynamicRef": _check_ref,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "const": _check_const,
    "contains": _check_contains,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "enum": _check_enum,
    "exclusiveMaximum": _make_limit_check("exclusiveMaximum", _is_number, lambda value, most: value >= most),
    "exclusiveMinimum": _make_limit_check("exclusiveMinimum", _is_number, lambda value, least: value <= least),
    "format": _check_format,
    "if": _check_if,
    "items": _check_items,
    "maxItems": _make_limit_check("maxItems", _TYPES["array"], lambda value, most: len(value) > most),
    "maxLength": _make_limit_check("maxLength", _TYPES["string"], lambda value, most: len(value) > most),
    "maxProperties": _make_limit_check("maxProperties", _TYPES["object"], lambda value, most: len(value) > most),
    "maximum": _make_limit_check("maximum", _is_number, lambda value, most: value > most),
    "minItems": _make_limit_check("minItems", _TYPES["array"], lambda value, least: len(value) < least),
    "minLength": _make_limit_check("minLength", _TYPES["string"], lambda value, least: len(value) < least),
    "minProperties": _make_limit_check("minProperties", _TYPES["object"], lambda value, least: len(value) < least),
    "minimum": _make_limit_check("minimum", _is_number, lambda value, least: value < least),
    "multipleOf": _multiple_of,
    "not": _check_not,
    "oneOf": _one_of,
    "pattern": _check_pattern,
    "patternProperties": _pattern_properties,
    "prefixItems": _prefix_items,
    "properties": _check_properties,
    "propertyNames": _property_names,
    "required": _check_required,
    "type": _check_type,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
    "uniqueItems": _unique_items,
}  # fmt: skip

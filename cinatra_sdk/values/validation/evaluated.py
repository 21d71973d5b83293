"""What of a value the keywords beside `unevaluatedProperties` and `unevaluatedItems` looked at.

Read as the library `jsonschema` reads it: through references, alternatives that fit, conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from cinatra_sdk.values.validation.breaks import ValueCheck

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

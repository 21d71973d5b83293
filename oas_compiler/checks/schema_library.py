"""The JSON Schema library's verdict on a schema with unusual keywords.

    {"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}}   ->  None
    {"$dynamicRef": "#nowhere"}       ->  SchemaFlaw((), "the $dynamicRef #nowhere leads nowhere")

Not a rule.  Used only for keywords that schema_flaws.py does not decide, because the import is
slow. Large schemas are refused, because the library's time is not linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.values.validation.vocabulary import SchemaFlaw, flaw_of
from oas_compiler.checks.schema_flaws import endless
from oas_compiler.ir import JsonValue

if TYPE_CHECKING:
    from referencing import Resource

MAX_VALUES: Final = 1_000
"""Values in a schema that the library is asked about."""
_REFERENCES: Final = ("$ref", "$dynamicRef")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("not", "if", "then", "else")


def flaw_by_library(schema: dict[str, JsonValue] | bool) -> SchemaFlaw | None:
    """The first thing that is wrong; `None` when values can be checked against `schema`."""
    if _count_values(schema) > MAX_VALUES:
        return SchemaFlaw((), f"with its keywords it may hold at most {MAX_VALUES:,} values")

    from referencing.jsonschema import DRAFT202012

    return flaw_of(schema) or _flaw_of_references(DRAFT202012.create_resource(schema))


def _flaw_of_references(root: Resource[Any]) -> SchemaFlaw | None:
    from referencing import Registry
    from referencing.exceptions import NoSuchAnchor, Unresolvable

    resolver = Registry().resolver_with_root(root)
    waiting = [(root, resolver)]
    schemas: dict[int, list[int]] = {}
    targets: list[int] = []
    for resource, base in waiting:
        schema = resource.contents
        if not isinstance(schema, dict) or id(schema) in schemas:
            continue
        below = schemas[id(schema)] = []
        for keyword in _REFERENCES:
            if keyword not in schema:
                continue
            reference = schema[keyword]
            if not reference.startswith("#"):
                return SchemaFlaw((), f"the {keyword} {reference[:80]} leads out of the document")
            try:
                target = base.lookup(reference).contents
            except (Unresolvable, NoSuchAnchor, ValueError, TypeError):
                return SchemaFlaw((), f"the {keyword} {reference[:80]} leads nowhere")
            if not isinstance(target, (dict, bool)):
                return SchemaFlaw((), f"the {keyword} {reference[:80]} leads to no schema")
            if isinstance(target, dict):
                targets.append(id(target))
                below.append(id(target))
        below += [id(part) for name in _LISTS for part in schema.get(name, ())]
        below += [id(schema[name]) for name in _SINGLE if name in schema]
        waiting += [(found, base.in_subresource(found)) for found in resource.subresources()]
    if not schemas.keys() >= set(targets):
        return SchemaFlaw((), "a reference leads to no schema")
    circle = endless(schemas)
    return None if circle is None else SchemaFlaw((), circle[1])


def _count_values(schema: JsonValue) -> int:
    count, waiting = 0, [schema]
    while waiting and count <= MAX_VALUES:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return count

"""Whether one JSON Schema is at least as strict as another, as far as can be shown.

    as_strict({"enum": ["go"]}, {"enum": ["go", "again"]})   True: it accepts less
    as_strict({"type": "object"}, {"required": ["ok"]})      False: `ok` may be left out now

`False` where strictness cannot be shown: then a reviewer should look.  Keywords that only describe
(`title`, `x-renderer`) do not count.

Two questions: does the new schema keep every rule of the old one, and has it a keyword that weakens
another rule (`patternProperties` beside `additionalProperties`, `minContains: 0` beside
`contains`)?  An unknown keyword may weaken rules, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from oas_compiler.ir import JsonValue

_Schema: TypeAlias = Mapping[str, JsonValue]

_DESCRIBING: Final = frozenset(
    {
        "$comment", "title", "description", "default", "examples", "deprecated", "readOnly",
        "writeOnly", "x-renderer", "x-envelope-shape",
    }
)  # fmt: skip
_FLOORS: Final = frozenset(
    {"minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum", "minContains"}
)
_CEILINGS: Final = frozenset(
    {"maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum", "maxContains"}
)
_NARROWING: Final = _FLOORS | _CEILINGS | {
    "type", "enum", "const", "required", "properties", "patternProperties", "additionalProperties",
    "propertyNames", "unevaluatedProperties", "dependencies", "dependentRequired",
    "dependentSchemas", "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains",
    "uniqueItems", "pattern", "multipleOf", "format", "contentEncoding", "contentMediaType",
    "contentSchema", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}  # fmt: skip
"""Keywords that can only refuse values.  Their effect on other keywords is judged separately."""
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
"""Keywords that refer to any place of the schema: a schema with one of these must be unchanged."""
_LEFT_OVER: Final = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords that apply to parts that no other keyword evaluated: beside one of these, nothing may
change.
"""


def as_strict(new: JsonValue, old: JsonValue) -> bool:
    """Whether `new` certainly refuses every value that `old` refuses; both are whole schemas."""
    if (
        isinstance(new, dict)
        and isinstance(old, dict)
        and (_has_references(new) or _has_references(old))
    ):
        return same(_select_rules(new), _select_rules(old))
    return _as_strict(new, old)


def _has_references(value: JsonValue) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not _REFERENCES.isdisjoint(one):
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False


def _as_strict(new: JsonValue, old: JsonValue) -> bool:
    if new is False or _accepts_all(old) or same(new, old):
        return True
    if not isinstance(new, dict) or not isinstance(old, dict):
        return False
    if any(word in schema for word in _LEFT_OVER for schema in (new, old)):
        return same(_select_rules(new), _select_rules(old))
    return all(_keeps_rule(word, new, old) for word in _select_rules(old)) and not any(
        _may_loosen(word, new, old) for word in new
    )


def same(one: JsonValue, other: JsonValue) -> bool:
    """Equality as JSON has it: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def _select_rules(schema: _Schema) -> dict[str, JsonValue]:
    return {word: value for word, value in schema.items() if word not in _DESCRIBING}


def _accepts_all(schema: JsonValue) -> bool:
    return schema is True or (isinstance(schema, dict) and not _select_rules(schema))


def _may_loosen(word: str, new: _Schema, old: _Schema) -> bool:
    """Whether a keyword of the new schema may weaken other rules."""
    if word in _DESCRIBING or word in _NARROWING:
        return False
    # keywords of other dialects and engines: `nullable`, `$schema`, `discriminator`
    note = word.startswith("x-") and not word.startswith("x-envelope")
    return not note and not (word in old and same(new[word], old[word]))


def _keeps_rule(word: str, new: _Schema, old: _Schema) -> bool:
    """Whether `new` keeps the rule of the keyword `word` in `old`."""
    if word in _FLOORS or word in _CEILINGS:
        return _keeps_limit(word, new, old)
    judge = _JUDGES.get(word)
    return judge(new, old) if judge is not None else _is_unchanged(word, new, old)


def _is_unchanged(word: str, new: _Schema, old: _Schema) -> bool:
    """Whether the keyword is equal in both schemas, or missing in both."""
    if word in new and word in old:
        return same(new[word], old[word])
    return word not in new and word not in old


def _keeps_limit(word: str, new: _Schema, old: _Schema) -> bool:
    if word not in new:
        return False
    one, other = new[word], old[word]
    if not _is_number(one) or not _is_number(other):
        return same(one, other)
    assert isinstance(one, (int, float))
    assert isinstance(other, (int, float))
    return one >= other if word in _FLOORS else one <= other


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _keeps_types(new: _Schema, old: _Schema) -> bool:
    allowed = _wrap_list(old["type"])
    if "number" in allowed:
        allowed = [*allowed, "integer"]
    return "type" in new and all(_is_in(kind, allowed) for kind in _wrap_list(new["type"]))


def _wrap_list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _keeps_enum(new: _Schema, old: _Schema) -> bool:
    allowed = old["enum"]
    return isinstance(allowed, list) and _is_one_of(new, allowed)


def _keeps_const(new: _Schema, old: _Schema) -> bool:
    return _is_one_of(new, [old["const"]])


def _is_one_of(new: _Schema, allowed: list[JsonValue]) -> bool:
    """Whether every value that `new` lists is allowed in `old`."""
    known = {_encode_canonical(value) for value in allowed}
    if "const" in new and _encode_canonical(new["const"]) in known:
        return True
    given = new.get("enum")
    return isinstance(given, list) and all(_encode_canonical(value) in known for value in given)


def _encode_canonical(value: JsonValue) -> str:
    """A text that is equal for equal JSON values."""
    return json.dumps(_normalize_numbers(value), sort_keys=True)


def _normalize_numbers(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_normalize_numbers(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _normalize_numbers(entry) for key, entry in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_in(value: JsonValue, allowed: list[JsonValue]) -> bool:
    return any(same(value, other) for other in allowed)


def _keeps_required(new: _Schema, old: _Schema) -> bool:
    return "required" in new and all(
        _is_in(name, _wrap_list(new["required"])) for name in _wrap_list(old["required"])
    )


def _keeps_properties(new: _Schema, old: _Schema) -> bool:
    given, known = new.get("properties", {}), old["properties"]
    if not isinstance(given, dict) or not isinstance(known, dict):
        return same(given, known)
    # A property that `new` does not name is checked by its additionalProperties, if at all: not
    # where a pattern matches its name.
    rest = True if "patternProperties" in new else new.get("additionalProperties", True)
    return all(_as_strict(given.get(name, rest), schema) for name, schema in known.items())


def _keeps_additional(new: _Schema, old: _Schema) -> bool:
    given, known = new.get("properties", {}), old.get("properties", {})
    allowed = old["additionalProperties"]
    if not isinstance(given, dict) or not isinstance(known, dict):
        return False
    # additionalProperties ignores names that a pattern matches
    if not _is_unchanged("patternProperties", new, old) and not _accepts_all(allowed):
        return False
    extra = [schema for name, schema in given.items() if name not in known]
    return all(
        _as_strict(schema, allowed) for schema in [new.get("additionalProperties", True), *extra]
    )


def _keeps_items(new: _Schema, old: _Schema) -> bool:
    # items ignores elements with a schema for their position
    if not _is_unchanged("prefixItems", new, old) and not _accepts_all(old["items"]):
        return False
    return _as_strict(new.get("items", True), old["items"])


def _additional_items(new: _Schema, old: _Schema) -> bool:
    """The keyword applies to elements after the positions of `items`."""
    return _is_unchanged("items", new, old) and _is_unchanged("additionalItems", new, old)


def _keeps_contains(new: _Schema, old: _Schema) -> bool:
    one, other = new.get("minContains", 1), old.get("minContains", 1)
    if not same(one, other):
        if not _is_number(one) or not _is_number(other):
            return False
        assert isinstance(one, (int, float))
        assert isinstance(other, (int, float))
        if one < other:
            return False
    return _is_unchanged("contains", new, old)


_JUDGES: Final[Mapping[str, Callable[[_Schema, _Schema], bool]]] = {
    "type": _keeps_types,
    "enum": _keeps_enum,
    "const": _keeps_const,
    "required": _keeps_required,
    "properties": _keeps_properties,
    "additionalProperties": _keeps_additional,
    "items": _keeps_items,
    "additionalItems": _additional_items,
    "contains": _keeps_contains,
}

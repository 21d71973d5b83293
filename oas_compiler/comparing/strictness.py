"""Whether one JSON Schema is as strict as another, as far as can be seen.

    as_strict({"enum": ["go"]}, {"enum": ["go", "again"]})   True: it accepts less
    as_strict({"type": "object"}, {"required": ["ok"]})      False: `ok` may be left out now

`False` where it cannot be shown: whoever reviews should look then.  Words that only describe
(`title`, `x-renderer`) do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from oas_compiler.ir import JsonValue

_DESCRIBING: Final = frozenset(
    {
        "$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated",
        "readOnly", "writeOnly", "x-renderer", "x-envelope-shape",
    }
)  # fmt: skip
_FLOORS: Final = frozenset(
    {"minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum", "minContains"}
)
_CEILINGS: Final = frozenset(
    {"maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum", "maxContains"}
)


def as_strict(new: JsonValue, old: JsonValue) -> bool:
    """Whether `new` surely accepts nothing that `old` refuses."""
    if new == old or new is False or old is True or old == {}:
        return True
    if not isinstance(new, dict) or not isinstance(old, dict):
        return False
    return all(_keeps(word, new, old) for word in old if word not in _DESCRIBING)


def _keeps(word: str, new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    """Whether `new` keeps the rule that `word` makes in `old`."""
    if word in _FLOORS or word in _CEILINGS:
        one, other = new.get(word), old[word]
        if not _is_number(one) or not _is_number(other):
            return one == other
        assert isinstance(one, (int, float))
        assert isinstance(other, (int, float))
        return one >= other if word in _FLOORS else one <= other
    judge = _JUDGES.get(word)
    if judge is not None:
        return judge(new, old)
    return word in new and new[word] == old[word]


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _types(new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    allowed = {str(kind) for kind in _listed(old["type"])}
    if "number" in allowed:
        allowed.add("integer")
    return "type" in new and {str(kind) for kind in _listed(new["type"])} <= allowed


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _values(new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    allowed = _listed(old["enum"]) if "enum" in old else [old["const"]]
    if "const" in new:
        return _is_in(new["const"], allowed)
    given = new.get("enum")
    return isinstance(given, list) and all(_is_in(value, allowed) for value in given)


def _is_in(value: JsonValue, allowed: list[JsonValue]) -> bool:
    """Membership as JSON has it: `true` is not 1."""
    return any(type(value) is type(other) and value == other for other in allowed)


def _required(new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    names = [str(name) for name in _listed(new.get("required", []))]
    return all(str(name) in names for name in _listed(old["required"]))


def _properties(new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    given, known = new.get("properties", {}), old["properties"]
    if not isinstance(given, dict) or not isinstance(known, dict):
        return given == known
    # A property that `new` does not name is checked by its additionalProperties, if at all.
    rest = new.get("additionalProperties", True)
    return all(as_strict(given.get(name, rest), schema) for name, schema in known.items())


def _additional(new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    given, known = new.get("properties", {}), old.get("properties", {})
    allowed = old["additionalProperties"]
    if not isinstance(given, dict) or not isinstance(known, dict):
        return new.get("additionalProperties") == allowed
    extra = [schema for name, schema in given.items() if name not in known]
    return all(
        as_strict(schema, allowed) for schema in [new.get("additionalProperties", True), *extra]
    )


def _items(new: Mapping[str, JsonValue], old: Mapping[str, JsonValue]) -> bool:
    return as_strict(new.get("items", True), old["items"])


_JUDGES: Final[Mapping[str, Callable[[Mapping[str, JsonValue], Mapping[str, JsonValue]], bool]]] = {
    "type": _types,
    "enum": _values,
    "const": _values,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
}

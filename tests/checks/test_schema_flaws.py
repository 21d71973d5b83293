"""What is said about a JSON Schema without the library is what the library says, and a little more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from oas_compiler.checks.lookup.value_flaws import (
    MAX_STEPS,
    MAX_VALUES,
    SchemaFlaw,
    Unusual,
    first_flaw,
    flaw_by_library,
)

# the library compiles patterns that read oddly, which Python warns about
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

ENDLESS = ("it refers to itself without end", "its references multiply or go on too far")

words = st.sampled_from(["a", "b", "x", "", "a/b", "~", "type", "$ref", "["])
references = st.sampled_from(
    [
        "#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/items", "#/anyOf/0", "#/anyOf/7",
        "#/$defs", "#/title", "#/required", "#/required/0", "#/nothing", "#nowhere", "#/$defs/a%2Fb",
        "#/$defs/a~1b", "#/", "#/anyOf/-", "#/anyOf/00", "#/type/0", "https://x.example/y", "y", "",
    ]
)  # fmt: skip
odd = st.sampled_from([None, True, 0, 1, -1, 1.0, 1.5, "", "a", "string", "(", [], ["a"], {}, [{}]])
types = st.sampled_from(
    ["string", "integer", "number", "boolean", "null", "array", "object", "strng"]
)


def shapes(schemas: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """What each keyword takes when it is written as it should be."""
    lists = st.lists(schemas, min_size=1, max_size=3)
    tables = st.dictionaries(words, schemas, max_size=3)
    names = st.lists(words, max_size=3, unique=True)
    counts = st.integers(0, 3)
    return {
        "type": types | st.lists(types, min_size=1, max_size=2),
        "enum": st.lists(odd, max_size=2), "const": odd, "default": odd, "x-other": odd,
        "required": names, "dependentRequired": st.dictionaries(words, names, max_size=2),
        "pattern": st.sampled_from(["a+", "[[a]", "(?P<x>.)"]), "multipleOf": st.just(0.5),
        "minimum": counts, "exclusiveMaximum": st.just(1.5), "minLength": counts,
        "maxItems": counts, "minProperties": counts, "maxContains": counts,
        "uniqueItems": st.booleans(), "title": words, "format": words, "examples": st.just([1]),
        "$comment": words, "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
        "deprecated": st.booleans(), "contentEncoding": words,
        "allOf": lists, "anyOf": lists, "oneOf": lists, "prefixItems": lists,
        "not": schemas, "if": schemas, "then": schemas, "else": schemas,
        "items": schemas, "contains": schemas, "additionalProperties": schemas,
        "propertyNames": schemas, "contentSchema": schemas,
        "properties": tables, "$defs": tables, "definitions": tables, "dependentSchemas": tables,
        "dependencies": st.dictionaries(words, schemas | names, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["a+", "["]), schemas, max_size=2),
        "$ref": references,
    }  # fmt: skip


def broken(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """A schema of some of these keywords, of which one may be written wrongly."""
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    sound = names.flatmap(lambda chosen: st.fixed_dictionaries({n: keywords[n] for n in chosen}))
    wrong = st.dictionaries(st.sampled_from(sorted(keywords)), odd, max_size=1)
    return st.one_of(sound, sound, sound, st.builds(lambda a, b: {**a, **b}, sound, wrong))


any_schema = st.recursive(
    st.booleans() | st.just({}) | st.builds(lambda r: {"$ref": r}, references) | odd,
    lambda inner: broken(shapes(inner)),
    max_leaves=12,
)


def verdict_of_the_library(schema: Any) -> str:
    """The first objection; empty when every reference and every target of one is in order."""
    if not isinstance(schema, (dict, bool)):
        return "no schema"
    registry = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    waiting, seen = [schema], set()
    for found in waiting:
        try:
            Draft202012Validator.check_schema(found)
        except SchemaError as error:
            return f"rule {error.validator}"
        for part in subschemas(found):
            if id(part) in seen or "$ref" not in part:
                continue
            seen.add(id(part))
            if not part["$ref"].startswith("#"):
                return "leads out"
            try:
                target = registry.lookup(part["$ref"]).contents
            except (Unresolvable, ValueError, TypeError):
                return "leads nowhere"
            if not isinstance(target, (dict, bool)):
                return "leads to no schema"
            waiting.append(target)
    return ""


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for below in DRAFT202012.create_resource(schema).subresources():
            yield from subschemas(below.contents)
        for below in schema.get("dependencies", {}).values():
            yield from subschemas(below)


def goes_round(schema: Any) -> bool:
    """Whether subschemas that look at the same value lead on and on: by walking every way."""
    registry = Registry().resolver_with_root(DRAFT202012.create_resource(schema))

    def follow(part: Any, steps: int) -> bool:
        if not isinstance(part, dict):
            return False
        below = [item for name in ("allOf", "anyOf", "oneOf") for item in part.get(name, [])]
        below += [part[name] for name in ("not", "if", "then", "else") if name in part]
        below += part.get("dependentSchemas", {}).values()
        below += part.get("dependencies", {}).values()
        if "$ref" in part:
            below.append(registry.lookup(part["$ref"]).contents)
        return steps > MAX_STEPS or any(follow(other, steps + 1) for other in below)

    return any(follow(part, 0) for part in subschemas(schema))


def own_verdict(schema: Any) -> SchemaFlaw | None:
    return first_flaw(schema)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_schema)
@example({"$ref": "#"})
@example({"anyOf": [{}, {"$ref": "#"}]})
@example({"items": {"$ref": "#/items"}})
@example({"$ref": "#/title", "title": "t"})
@example({"minLength": 1.0, "maxLength": 1.5})
@example({"minLength": True})
@example({"type": []})
@example({"type": ["string", "string"]})
@example({"items": [{}]})
@example({"patternProperties": {"(": {}}})
@example({"dependencies": {"a": ["b", "b"]}})
@example({"enum": [[1], {"a": 1}]})
@example({"const": {"$ref": "nowhere"}, "enum": [{"type": "strng"}]})
@example({"properties": {"$ref": {"type": "string"}, "$id": {}, "type": {}}})
@example({"x-custom": {"type": "strng"}, "items": {"$ref": "#/x-custom"}})
@example({"$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"})
def test_the_library_agrees(schema: Any) -> None:
    flaw = own_verdict(schema)
    library = verdict_of_the_library(schema)
    if flaw is not None and flaw.text in ENDLESS:
        assert library == "", (flaw, library)
        assert goes_round(schema), flaw
    else:
        assert bool(flaw) == bool(library), (flaw, library)
        assert library != "" or not goes_round(schema)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_schema, odd)
def test_a_schema_without_a_flaw_can_be_checked_against(schema: Any, value: Any) -> None:
    if own_verdict(schema) is None:
        Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"a": {"items": {"type": 7}}}}, ("properties", "a", "items", "type")),
        ({"anyOf": [{}, {"minimum": "1"}]}, ("anyOf", 1, "minimum")),
        ({"anyOf": [{}, 7]}, ("anyOf", 1)),
        ({"$ref": "#/x", "x": {"required": "a"}}, ("x", "required")),
        ({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}, None),
    ],
)
def test_a_flaw_is_shown_where_it_is_written(schema: Any, path: Any) -> None:
    flaw = own_verdict(schema)
    assert flaw is not None
    assert path is None or flaw.path == path


def test_an_index_from_the_end_is_no_json_pointer_though_the_library_takes_it() -> None:
    schema = {"$ref": "#/anyOf/-1", "anyOf": [{}]}
    assert verdict_of_the_library(schema) == ""
    flaw = own_verdict(schema)
    assert flaw is not None
    assert flaw.text == "the reference leads nowhere"


@pytest.mark.parametrize(
    "keyword",
    ["$id", "$anchor", "$dynamicRef", "$vocabulary", "unevaluatedItems", "unevaluatedProperties"],
)
def test_keywords_that_change_what_references_mean_are_left_to_the_library(keyword: str) -> None:
    with pytest.raises(Unusual):
        first_flaw({"items": {keyword: "x"}})
    assert first_flaw({"properties": {keyword: {}}, "const": {keyword: "x"}}) is None


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ({"$anchor": "a", "$ref": "#b"}, {"$anchor": "a", "items": {"$ref": "#a"}}),
        ({"$anchor": "a", "$ref": "#a"}, {"$anchor": "a", "items": {"$ref": "#a"}}),
        ({"$id": "x", "$ref": "y"}, {"$id": "x", "items": {"$ref": "#"}}),
        ({"$anchor": 7}, {"$anchor": "a"}),
        ({"$id": "x", "items": {"$ref": "#/title/0"}, "title": "t"}, {"$id": "x", "title": "t"}),
        (
            {"$id": "x", "$ref": "#/x", "x": {}},
            {"$id": "x", "$ref": "#/$defs/x", "$defs": {"x": {}}},
        ),
    ],
)
def test_the_library_is_asked_about_what_references_then_mean(broken: Any, sound: Any) -> None:
    assert flaw_by_library(broken) is not None
    assert flaw_by_library(sound) is None


def test_the_library_is_not_asked_about_a_large_schema() -> None:
    flaw = flaw_by_library({"$id": "x", "enum": [1] * MAX_VALUES})
    assert flaw is not None
    assert f"{MAX_VALUES:,}" in flaw.text
    assert flaw_by_library({"$id": "x", "enum": [1] * (MAX_VALUES - 10)}) is None


def test_a_usual_schema_needs_no_library() -> None:
    code = (
        "import sys; from oas_compiler.checks.lookup.value_flaws import first_flaw; "
        "assert first_flaw({'items': {'$ref': '#/$defs/a'}, '$defs': {'a': {'type': 'string'}}}) "
        "is None; print('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

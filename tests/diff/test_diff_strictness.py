"""Whether a schema is as strict as another: never said where an instance shows that it is not."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import referencing.exceptions
from hypothesis import given, settings
from hypothesis import strategies as st

from oas_compiler.diff.schema_strictness import as_strict, same
from tests.effort import tries

SCALARS = [None, True, False, 0, 1, 1.0, 2, 2.5, "a", "ab", [], [1], [True], {}, {"x": 1}]
STRING, NUMBER = {"type": "string"}, {"type": "number"}


def _words(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of any mixture of words, so that each stands beside each."""
    count = st.integers(0, 2)
    named = st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2)
    listed = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "number", "boolean", "object", "array",
                                     ["string", "null"], ["object", "array"]]),
            "enum": st.lists(st.sampled_from(SCALARS), min_size=1, max_size=3),
            "const": st.sampled_from(SCALARS),
            "minimum": count, "exclusiveMaximum": count, "minLength": count, "maxLength": count,
            "minItems": count, "maxItems": count, "minProperties": count,
            "required": st.lists(st.sampled_from(["x", "y"]), unique=True),
            "properties": named,
            "patternProperties": st.dictionaries(st.sampled_from(["x", "^z"]), inner, max_size=1),
            "additionalProperties": inner, "unevaluatedProperties": st.booleans(),
            "propertyNames": inner,
            "items": inner, "prefixItems": listed, "unevaluatedItems": st.booleans(),
            "contains": inner, "minContains": count, "maxContains": count,
            "not": inner, "anyOf": listed, "oneOf": listed, "allOf": listed,
            "if": inner, "then": inner, "else": inner,
            "$ref": st.sampled_from(["#/properties/x", "#/$defs/d"]),
            "$defs": st.fixed_dictionaries({"d": inner}),
            "title": st.just("T"),
        },
    )  # fmt: skip


schemas = st.recursive(st.booleans() | st.just({}) | st.just(STRING), _words, max_leaves=4)
instances = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def _accepts(schema: Any, instance: Any) -> bool | None:
    """`None` for a schema that leads nowhere or in a circle."""
    try:
        return bool(jsonschema.Draft202012Validator(schema).is_valid(instance))
    except (RecursionError, referencing.exceptions.Unresolvable):
        return None


@st.composite
def pairs(draw: Any) -> tuple[Any, Any]:
    """Two schemas that have most in common: pairs that are as strict are rare otherwise."""
    old = draw(_words(schemas))
    new = dict(old)
    for word in draw(st.lists(st.sampled_from(sorted(old)), max_size=1)) if old else []:
        del new[word]
    for word, value in draw(_words(schemas)).items():
        if draw(st.integers(0, 3)) == 0:
            new[word] = value
    return new, old


@settings(max_examples=tries(25, 1_000), deadline=None)
@given(pair=pairs(), given_=st.lists(instances, min_size=3, max_size=6))
def test_a_schema_called_as_strict_accepts_nothing_that_the_other_refuses(
    pair: tuple[Any, Any], given_: list[Any]
) -> None:
    new, old = pair
    if as_strict(new, old):
        for instance in [*given_, *SCALARS]:
            if _accepts(new, instance):
                assert _accepts(old, instance) is not False, (new, old, instance)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"const": 1}, {"const": True}),
        ({"const": [1]}, {"const": [True]}),
        ({"enum": [0]}, {"enum": [False, "a"]}),
        ({"enum": [1, 2]}, {"enum": [1, 2], "const": 1}),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}},
         {"additionalProperties": False}),
        ({"properties": {}, "additionalProperties": False, "patternProperties": {"a": {}}},
         {"properties": {"a": STRING}, "additionalProperties": False}),
        ({"items": STRING, "prefixItems": [NUMBER]}, {"items": STRING}),
        ({"contains": STRING, "minContains": 0}, {"contains": STRING}),
        ({"contains": STRING, "minContains": True}, {"contains": STRING}),
        ({"unevaluatedProperties": False, "properties": {"a": {}}},
         {"unevaluatedProperties": False}),
        ({"not": {"$ref": "#/properties/x"}, "properties": {"x": {"type": "string", "minLength": 2}}},
         {"not": {"$ref": "#/properties/x"}, "properties": {"x": STRING}}),
        ({"type": "string", "nullable": True}, STRING),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}, {"const": 1}),
        ({"$ref": "#/$defs/any", "const": 1}, {"const": 1}),
        ({"items": [STRING], "additionalItems": False}, {"items": STRING, "additionalItems": False}),
        ({"minimum": 5, "exclusiveMinimum": False}, {"minimum": 5, "exclusiveMinimum": True}),
        ({"x-envelope": "json-string", "type": "string"}, STRING),
    ],
    ids=str,
)  # fmt: skip
def test_a_word_that_takes_something_from_a_rule_makes_it_weaker(new: Any, old: Any) -> None:
    assert not as_strict(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"const": 1}, {"const": 1.0}),
        ({"enum": [1]}, {"enum": [1.0, 2]}),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, {}),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}, "minProperties": 1},
         {"additionalProperties": False, "patternProperties": {"^x": {}}}),
        ({"contains": STRING, "minContains": 2}, {"contains": STRING}),
        ({"items": STRING, "prefixItems": [NUMBER], "minItems": 1},
         {"items": STRING, "prefixItems": [NUMBER]}),
        ({"type": "string", "x-placeholder": "Yes"}, STRING),
        ({"$ref": "#/$defs/d", "$defs": {"d": STRING}, "title": "New"},
         {"$ref": "#/$defs/d", "$defs": {"d": STRING}}),
        ({"anyOf": [STRING]}, {"title": "Anything"}),
    ],
    ids=str,
)  # fmt: skip
def test_what_only_adds_rules_or_describes_is_as_strict(new: Any, old: Any) -> None:
    assert as_strict(new, old)


def test_equality_is_that_of_json() -> None:
    assert same({"a": [1, 2.0]}, {"a": [1.0, 2]})
    assert not same({"a": [1]}, {"a": [True]})
    assert not same(0, False)
    assert not same([1], [1, 2])
    assert not same({"a": None}, {})

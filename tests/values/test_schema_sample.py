"""Samples of schemas: the value that is expected, always valid, always the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cinatra_sdk.data.schema.samples import matching, sample

NODE = {
    "type": "object",
    "required": ["name", "child"],
    "properties": {
        "name": {"type": "string"},
        "child": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, "simulated x"),
        (True, "simulated x"),
        ({"type": "string"}, "simulated x"),
        ({"const": 7, "default": 7}, 7),
        ({"enum": ["b", "a"], "default": "a"}, "b"),
        ({"type": "string", "default": ""}, ""),
        ({"type": "string", "default": "", "minLength": 1}, "simulated x"),
        ({"type": "object", "default": None}, {}),
        ({"type": "string", "examples": [1, "an example"]}, "an example"),
        ({"type": "string", "maxLength": 5}, "simul"),
        ({"type": "string", "minLength": 13}, "simulated x.."),
        ({"type": "string", "not": {"const": "simulated x"}}, "simulated x 2"),
        ({"type": "string", "format": "uuid"}, "00000000-0000-4000-8000-000000000001"),
        ({"type": "string", "format": "email"}, "simulated@example.com"),
        ({"type": "string", "format": "date"}, "2030-01-01"),
        ({"type": "string", "format": "unheard-of"}, "simulated x"),
        ({"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}, "AA-0"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "maximum": -2}, -2),
        ({"type": "integer", "exclusiveMinimum": 4, "multipleOf": 5}, 5),
        ({"type": "integer", "multipleOf": 7, "minimum": 10}, 14),
        ({"type": "number"}, 1.5),
        ({"type": "number", "exclusiveMinimum": 2, "exclusiveMaximum": 2.5}, 2.25),
        ({"type": "boolean"}, False),
        ({"type": "boolean", "const": True}, True),
        ({"type": "null"}, None),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "array"}, []),
        ({"type": "array", "minItems": 2, "items": {"type": "integer"}}, [1, 1]),
        (
            {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "integer"}},
            [1, 2, 3],
        ),
        ({"type": "array", "contains": {"const": 5}}, [5]),
        ({"type": "array", "prefixItems": [{"type": "null"}], "minItems": 1}, [None]),
        ({"type": "object"}, {}),
        ({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}, {"a": 1}),
        ({"type": "object", "minProperties": 1}, {"key1": "simulated key1"}),
        (
            {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"]}},
            {"a": "simulated a", "b": "simulated b"},
        ),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 1),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1.5),
        ({"allOf": [{"minimum": 3}, {"maximum": 9}], "type": "integer"}, 3),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer", "minimum": 2}}}, 2),
        (
            NODE,
            {"name": "simulated name", "child": {"name": "simulated name", "child": None}},
        ),
        (
            {"type": "object", "required": ["k"], "properties": {"k": {"const": "a"}},
             "if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["z"]}},
            {"k": "a", "z": "simulated z"},
        ),
    ],
)  # fmt: skip
def test_a_schema_gives_its_plainest_value(schema, value):
    assert sample(schema, name="x") == value
    assert type(sample(schema, name="x")) is type(value)
    Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"enum": []},
        {"type": "integer", "minimum": 2, "maximum": 1},
        {"type": "string", "minLength": 99999},
        {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "boolean"}},
        {"$ref": "#/$defs/gone"},
        {"$ref": "http://127.0.0.1:9/schema"},
        {"type": "object", "required": ["me"], "properties": {"me": {"$ref": "#"}}},
        {"type": "strng"},
        {"type": "string", "pattern": "["},
    ],
)
def test_a_schema_without_a_value_is_an_error_naming_the_schema(schema):
    with pytest.raises(ValueError, match='"x"') as caught:
        sample(schema, name="x")
    assert json.dumps(schema)[:50] in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "place"),
    [({"type": "nonsense"}, "at type, "), ({"type": "string", "pattern": "("}, "at pattern, ")],
)
def test_a_broken_schema_is_told_with_the_place_of_its_flaw(schema, place):
    with pytest.raises(ValueError, match=f'the schema of "x" .*{place}'):
        sample(schema, name="x")


def test_a_hopeless_search_ends():
    part: dict[str, object] = {"type": "integer", "minimum": 2, "maximum": 1}
    for _ in range(5):
        part = {"anyOf": [part, part, part]}
    with pytest.raises(ValueError, match=r"gave up|at "):
        sample(part, name="x")


def test_a_sample_is_never_shared_with_the_schema_or_another_sample():
    schema = {"type": "object", "default": {"list": []}}
    first = sample(schema, name="x")
    first["list"].append(1)
    assert sample(schema, name="x") == {"list": []}
    assert schema["default"] == {"list": []}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^abc$", "abc"),
        ("a{3}b?", "aaa"),
        ("(x|y)+z", "xz"),
        ("(?:ab){2,}", "abab"),
        ("[^a]", "0"),
        (r"\d{4}-\d{2}", "0000-00"),
        (r"\w+@\w+\.com", "a@a.com"),
        (r"[\]]x", "]x"),
        (r"\u00e9", "é"),
        ("(?=x)y", "y"),
        (".", "a"),
        ("^@[a-z0-9-]+/[a-z]+$", "@a/a"),
    ],
)
def test_a_pattern_gives_a_short_text(pattern, text):
    assert next(iter(matching(pattern))) == text


def test_open_repetitions_grow_until_a_length_can_be_met():
    assert sample({"type": "string", "pattern": "^[a-z]+$", "minLength": 10}, name="x") == "a" * 17


def corpus_schemas() -> list[dict[str, object]]:
    """Every output of every ApiNode, and every answer schema, of the real flows."""
    root = Path(__file__).resolve().parents[2] / "../shared/corpus/cinatra"
    found: list[dict[str, object]] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if value.get("component_type") == "ApiNode":
                found.extend(value.get("outputs") or [])
            schema = value.get("inputMessageSchema")
            if isinstance(schema, dict):
                found.append(schema)
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for path in sorted(root.glob("*/cinatra/oas.json")):
        walk(json.loads(path.read_text()))
    return found


def test_every_schema_of_the_real_flows_has_a_sample():
    schemas = corpus_schemas()
    if not schemas:
        pytest.skip("the corpus of real flows is not beside this checkout")
    for schema in schemas:
        Draft202012Validator(schema).validate(sample(schema, name="x"))

"""The schema of an answer, made from the outputs that a node declares."""

from __future__ import annotations

from typing import Any

from cinatra_sdk.outside.http_calls.response_outputs import close_schema, derive_output_schema


def test_the_output_schema_is_closed_at_every_depth_and_needs_types() -> None:
    outputs: Any = {
        "people": {
            "type": "array",
            "default": [],
            "items": {"type": "object", "properties": {"name": {"type": "string"}}},
        }
    }
    person = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert derive_output_schema(outputs) == {
        "type": "object",
        "properties": {"people": {"title": "people", "type": "array", "items": person}},
        "required": ["people"],
        "additionalProperties": False,
    }
    assert derive_output_schema({}) == {}
    assert derive_output_schema({"a": {"type": "string"}, "b": {}}) == {}


def test_closing_a_closed_schema_changes_nothing() -> None:
    schema = derive_output_schema({"a": {"type": "object", "properties": {"b": {"type": "null"}}}})
    assert close_schema(schema) == schema
    inner: Any = schema["properties"]["a"]  # type: ignore[index, call-overload]
    assert (inner["required"], inner["additionalProperties"]) == (["b"], False)


def test_each_choice_of_a_union_is_closed_and_a_conjunction_is_left_as_it_is() -> None:
    open_one: Any = {"type": "object", "properties": {"b": {"type": "string"}}}
    closed = {**open_one, "required": ["b"], "additionalProperties": False}
    got: Any = close_schema(
        {
            "type": "object",
            "properties": {
                "a": {"anyOf": [open_one, {"type": "null"}]},
                "c": {"oneOf": [open_one]},
            },
        }
    )
    assert got["properties"]["a"] == {"anyOf": [closed, {"type": "null"}]}
    assert got["properties"]["c"] == {"oneOf": [closed]}
    by_name: Any = {"type": "object", "additionalProperties": open_one}
    assert close_schema(by_name) == {"type": "object", "additionalProperties": closed}
    both: Any = {"allOf": [open_one, open_one]}
    assert close_schema(both) == both

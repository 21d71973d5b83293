"""The schema of an answer, made from the outputs that a node declares."""

from __future__ import annotations

from typing import Any

from cinatra_sdk.values.output_schema import close_schema, derive_output_schema


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
        "properties": {"people": {"type": "array", "items": person}},
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

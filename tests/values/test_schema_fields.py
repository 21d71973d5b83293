"""What a JSON Schema says of the fields that a person fills in."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.data.ports import choices, properties_of, read_type, takes_text


@pytest.mark.parametrize(
    ("schema", "parts"),
    [
        ({"properties": {"a": {"type": "string"}, "b": True}}, {"a": {"type": "string"}, "b": {}}),
        ({"properties": ["a"]}, {}),
        ({"type": "string"}, {}),
    ],
)
def test_the_parts_of_an_object_are_schemas(schema: Any, parts: Any) -> None:
    assert properties_of(schema) == parts


def test_a_constant_is_the_only_choice() -> None:
    assert choices({"const": None, "enum": [1]}) == [None]
    assert choices({"enum": ["a", 1]}) == ["a", 1]
    assert choices({"enum": "a"}) == choices({}) == []


def test_only_a_single_type_counts() -> None:
    assert read_type({"type": "string"}) == "string"
    assert read_type({"type": ["string", "null"]}) == read_type({}) == ""
    assert takes_text({"type": "string", "minLength": 3})
    assert not takes_text({"type": "string", "const": "a"})
    assert not takes_text({"type": ["string"]})

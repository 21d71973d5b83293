"""Which parts of an answer become a node's outputs, and what is said when one is missing."""

from __future__ import annotations

import pytest

from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, PlatformOutputError
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs

ITEMS = {"type": "array", "items": {"type": "object", "required": ["id"],
         "properties": {"id": {"type": "string"}}}}  # fmt: skip


def output(title: str, schema: object = None, *, default: bool = False) -> DeclaredOutput:
    return DeclaredOutput(title=title, schema=schema or {}, has_default=default)


def test_declared_titles_are_picked_and_other_keys_dropped(make_call):
    call = make_call(outputs=(output("a", {"type": "string"}), output("b")))
    assert declared_outputs(call, {"b": None, "x": 1, "a": "A"}) == {"a": "A", "b": None}


def test_a_missing_output_is_an_error_naming_node_output_and_the_keys_that_came(make_call):
    call = make_call(node="draft", outputs=(output("subject"),))
    with pytest.raises(PlatformOutputError) as caught:
        declared_outputs(call, {"text": "private", "id": 1})
    assert str(caught.value) == (
        'node "draft": the response lacks the output "subject"; it has "text", "id"'
    )
    assert caught.value.node == "draft"
    with pytest.raises(PlatformOutputError, match="it is empty"):
        declared_outputs(call, {})
    with pytest.raises(PlatformOutputError, match='"k9" and 5 more'):
        declared_outputs(call, {f"k{i}": i for i in range(15)})


def test_a_missing_output_with_a_default_is_left_to_the_caller(make_call):
    call = make_call(outputs=(output("a", {"type": "string"}, default=True),))
    assert declared_outputs(call, {}) == {}
    assert declared_outputs(call, None) == {}
    assert declared_outputs(call, {"a": None}) == {}
    assert declared_outputs(call, {"a": ""}) == {"a": ""}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "string"}, None, 'the output "a" must be string, got null'),
        ({"type": "string"}, 1, "must be string, got integer"),
        ({"type": "integer"}, True, "must be integer, got boolean"),
        ({"type": "integer"}, 1.5, "must be integer, got number"),
        ({"type": ["string", "null"]}, {}, "must be string or null, got object"),
        (ITEMS, [{"id": "x"}, {"id": 2}], 'the output "a[1].id" must be string, got integer'),
        (ITEMS, [{}], 'the output "a[0]" lacks "id"'),
        ({"enum": ["x", "y"]}, "private", 'breaks the rule enum: ["x", "y"]'),
        ({"minLength": 3}, "pr", "breaks the rule minLength: 3"),
    ],
)
def test_a_wrong_type_is_named_with_its_place_and_without_the_value(make_call, schema, value, said):
    with pytest.raises(PlatformOutputError) as caught:
        declared_outputs(make_call(outputs=(output("a", schema),)), {"a": value})
    assert said in str(caught.value)
    assert "private" not in str(caught.value)


def test_a_wrong_type_is_an_error_even_with_a_default(make_call):
    with pytest.raises(PlatformOutputError, match="got integer"):
        declared_outputs(
            make_call(outputs=(output("a", {"type": "string"}, default=True),)), {"a": 1}
        )


@pytest.mark.parametrize(
    ("schema", "value"),
    [({"type": "integer"}, 1.0), ({"type": "number"}, 1), ({}, None), ({"type": "null"}, None)],
)
def test_a_value_that_the_schema_accepts_passes_unchanged(make_call, schema, value):
    assert declared_outputs(make_call(outputs=(output("a", schema),)), {"a": value}) == {"a": value}


@pytest.mark.parametrize("title", ["output", "response"])
def test_a_single_output_of_that_name_takes_an_answer_that_is_no_object(make_call, title):
    call = make_call(outputs=(output(title),))
    assert declared_outputs(call, "text") == {title: "text"}
    assert declared_outputs(call, [1]) == {title: [1]}
    assert declared_outputs(call, {title: 1}) == {title: 1}


def test_response_takes_a_whole_object_and_output_does_not(make_call):
    assert declared_outputs(make_call(outputs=(output("response"),)), {"a": 1}) == {
        "response": {"a": 1}
    }
    with pytest.raises(PlatformOutputError, match='lacks the output "output"'):
        declared_outputs(make_call(outputs=(output("output"),)), {"a": 1})


@pytest.mark.parametrize(("body", "got"), [("x", "string"), ([], "array"), (None, "null")])
def test_any_other_answer_that_is_no_object_is_an_error_naming_its_type(make_call, body, got):
    with pytest.raises(PlatformOutputError, match=f"must be an object with its outputs, got {got}"):
        declared_outputs(make_call(outputs=(output("title"),)), body)


def test_a_node_without_outputs_takes_nothing_from_any_answer(make_call):
    assert [declared_outputs(make_call(), body) for body in ({"a": 1}, [1], None)] == [{}, {}, {}]


@pytest.mark.parametrize(
    "schema", [{"type": "strng"}, {"$ref": "#/nowhere"}, {"$ref": "http://127.0.0.1:9/schema"}]
)
def test_a_broken_schema_is_an_output_error_and_nothing_is_fetched(make_call, schema):
    with pytest.raises(PlatformOutputError, match="no JSON Schema"):
        declared_outputs(make_call(outputs=(output("a", schema),)), {"a": 1})

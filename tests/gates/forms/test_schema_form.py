"""A gate with the author's JSON Schema of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import UNSET, Decision
from cinatra_sdk.gates.forms.schema_form import SchemaForm

DOCUMENT = SchemaForm(
    output="setupJson",
    answer_schema={
        "type": "object",
        "properties": {"site": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["site"],
    },
)
TITLED = SchemaForm(
    output="confirmed",
    answer_schema={
        "type": "object",
        "properties": {"confirmed": {"type": "boolean"}},
        "required": ["confirmed"],
    },
)
ENVELOPE = SchemaForm(
    output="testResult",
    answer_schema={
        "type": "object",
        "properties": {"testResult": {"type": "string"}},
        "required": ["testResult"],
    },
    document_schema={"type": "object", "properties": {"action": {"enum": ["send", "continue"]}}},
)
NUMBER = SchemaForm(output="n", text_output=False, answer_schema={"type": "integer", "minimum": 1})
YES = {"type": "object", "properties": {"approved": {"type": "boolean"}}}


def test_a_document_is_checked_and_carried_as_json_text() -> None:
    answer = DOCUMENT.read({"approved": True, "value": {"site": "https://a.example", "count": 2}})
    assert answer.value == '{"site":"https://a.example","count":2}'


def test_a_document_given_as_text_goes_on_byte_for_byte() -> None:
    text = '{ "site" : "x" }'
    assert DOCUMENT.read({"approved": True, "value": text}).value == text
    assert DOCUMENT.read({"approved": True, "userResponse": text}).value == text


@pytest.mark.parametrize(
    "value", [{}, {"site": 3}, {"site": "x", "count": "2"}, "not json", [], None, 5], ids=repr
)
def test_a_document_that_breaks_the_schema_is_refused(value: Any) -> None:
    with pytest.raises(AnswerInvalid, match=r"does not fit.*the gate asks for 'site'"):
        DOCUMENT.read({"approved": True, "value": value})


def test_approval_alone_is_refused_where_data_is_required() -> None:
    with pytest.raises(AnswerInvalid, match="asks for 'site'"):
        DOCUMENT.read({"approved": True})


def test_a_titled_answer_is_the_outputs_value_with_or_without_its_title() -> None:
    assert TITLED.read({"approved": True, "value": {"confirmed": False}}).value == "false"
    assert TITLED.read({"approved": True, "value": False}).value == "false"


def test_an_envelope_is_checked_inside_its_string() -> None:
    good = '{"action": "send"}'
    assert ENVELOPE.read({"approved": True, "value": {"testResult": good}}).value == good
    assert ENVELOPE.read({"approved": True, "value": good}).value == good
    for bad in ('{"action": "explode"}', "no json", '"text"'):
        with pytest.raises(AnswerInvalid, match="document in 'testResult'"):
            ENVELOPE.read({"approved": True, "value": bad})


def test_an_output_that_is_no_text_takes_the_value_itself() -> None:
    assert NUMBER.read({"approved": True, "value": 4}).value == 4
    assert NUMBER.read({"approved": True, "value": 4.0}).value == 4
    for bad in (0, "4x", True, None, 1.5, 1e300):
        with pytest.raises(AnswerInvalid):
            NUMBER.read({"approved": True, "value": bad})


@pytest.mark.parametrize("form", [DOCUMENT, TITLED, ENVELOPE, NUMBER])
def test_the_example_of_a_form_is_an_answer_that_it_takes(form: SchemaForm) -> None:
    decision = Decision.approve(by="x", value=form.example())
    assert form.read(decision.wire()).approved


def test_a_broken_schema_accepts_nothing() -> None:
    form = SchemaForm(output="x", answer_schema={"type": "nonsense"})
    with pytest.raises(AnswerInvalid, match="no JSON Schema"):
        form.read({"approved": True, "value": 1})


def test_a_schema_that_is_only_the_yes_asks_for_no_data() -> None:
    form = SchemaForm(output="userResponse", answer_schema=YES)
    assert (form.plain_yes, form.needs_data, form.fields_schema) == (
        {"approved": True},
        False,
        None,
    )
    assert (DOCUMENT.plain_yes, DOCUMENT.needs_data) == (UNSET, True)
    assert DOCUMENT.fields_schema == DOCUMENT.answer_schema


def test_a_person_fills_in_the_document_inside_rather_than_the_string_around_it() -> None:
    assert ENVELOPE.fields_schema == ENVELOPE.document_schema
    around_yes = SchemaForm(answer_schema=YES, document_schema={"type": "object"})
    assert (around_yes.needs_data, around_yes.fields_schema) == (True, {"type": "object"})


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "enum": ["a", "b"]}, None),
        ({"properties": {"note": {"type": "string"}}}, "note"),
        ({"properties": {"note": {"type": "string"}, "to": {"type": "string"}}}, None),
        ({"properties": {"note": {"type": "integer"}}}, None),
        ({}, None),
    ],
)
def test_the_only_text_that_a_schema_asks_for_is_named(schema: Any, name: str | None) -> None:
    assert SchemaForm(answer_schema=schema).text_field == name
    assert SchemaForm(answer_schema=schema, document_schema={}).text_field is None


def test_a_value_is_named_only_where_the_schema_names_the_output() -> None:
    assert TITLED.name_value(True) == {"confirmed": True}
    assert DOCUMENT.name_value(True) is True
    assert SchemaForm(output="", answer_schema={"properties": {"": {}}}).name_value(1) == 1


@pytest.mark.parametrize("name", ["ok", "Agreed", "confirmed"])
def test_an_example_agrees_where_a_member_stands_for_an_approval(name: str) -> None:
    schema = {"properties": {name: {"enum": [False, True]}}, "required": [name], "type": "object"}
    assert SchemaForm(output="x", answer_schema=schema).example() == {name: True}
    never = schema | {"properties": {name: {"const": False}}}
    assert SchemaForm(output="x", answer_schema=never).example() == {name: False}


def test_a_schema_with_a_reference_stands_in_the_payload_only() -> None:
    value = {"type": "integer", "minimum": 1}
    assert NUMBER.schema()["properties"]["value"] == value
    refers = SchemaForm(answer_schema={"$ref": "#/$defs/a", "$defs": {"a": value}})
    assert refers.schema()["properties"]["value"] == {}

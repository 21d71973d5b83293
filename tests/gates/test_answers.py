"""What a person may send to a gate, and what the flow reads of it."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.forms.choosing import form_of
from cinatra_sdk.gates.forms.form import AnswerForm

APPROVAL = form_of(output="userResponse")
DOCUMENT = form_of(
    output="setupJson",
    answer_schema={
        "type": "object",
        "properties": {"site": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["site"],
    },
)
TITLED = form_of(
    output="confirmed",
    answer_schema={
        "type": "object",
        "properties": {"confirmed": {"type": "boolean"}},
        "required": ["confirmed"],
    },
)
ENVELOPE = form_of(
    output="testResult",
    answer_schema={
        "type": "object",
        "properties": {"testResult": {"type": "string"}},
        "required": ["testResult"],
    },
    document_schema={"type": "object", "properties": {"action": {"enum": ["send", "continue"]}}},
)
NUMBER = form_of(output="n", text_output=False, answer_schema={"type": "integer", "minimum": 1})


@pytest.mark.parametrize(
    "approved", ["true", 1, 0, "yes", None, [True], {"approved": True}, 1.0], ids=repr
)
def test_nothing_but_json_true_and_false_decides(approved: Any) -> None:
    with pytest.raises(AnswerInvalid, match="neither true nor false"):
        APPROVAL.read({"approved": approved})


@pytest.mark.parametrize("raw", [None, True, "approve", 1, [], [{"approved": True}]], ids=repr)
def test_an_answer_that_is_no_object_is_refused(raw: Any) -> None:
    with pytest.raises(AnswerInvalid, match="not an object"):
        APPROVAL.read(raw)


def test_an_answer_without_a_decision_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="'approved' is missing"):
        APPROVAL.read({"value": "x"})


def test_unknown_keys_are_refused_by_name() -> None:
    with pytest.raises(AnswerInvalid, match="unknown keys: goto"):
        APPROVAL.read({"approved": True, "goto": "send"})


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"approved": True}, "[Approved by operator]"),
        ({"approved": True, "value": True}, "[Approved by operator]"),
        ({"approved": True, "approvalNote": "  fine  "}, "fine"),
        ({"approved": True, "reason": "fine"}, "[Approved by operator]"),
        ({"approved": True, "reason": "fine", "approvalNote": "send it late"}, "send it late"),
        ({"approved": True, "reason": "fine", "value": "Shorter"}, "Shorter"),
        ({"approved": True, "value": "Shorter, please"}, "Shorter, please"),
        ({"approved": True, "userResponse": ' {"a": 1}\n'}, ' {"a": 1}\n'),
        ({"approved": True, "userResponse": "text", "approvalNote": "note"}, "text"),
        ({"approved": True, "value": {"a": [1, None]}}, '{"a":[1,null]}'),
        ({"approved": True, "value": ""}, ""),
        ({"approved": True, "value": 0}, "0"),
        ({"approved": True, "value": False}, "false"),
        ({"approved": True, "value": None}, "null"),
    ],
)
def test_a_gate_without_a_schema_takes_approval_or_free_text(raw: Any, text: str) -> None:
    assert APPROVAL.read(raw).value == text


def test_a_reason_is_kept_and_never_what_the_flow_goes_on_with() -> None:
    answer = APPROVAL.read({"approved": True, "reason": "I owe Ann a favour"})
    assert (answer.reason, answer.value) == ("I owe Ann a favour", "[Approved by operator]")
    undemanding = form_of(output="x", answer_schema={"type": "object", "properties": {"x": {}}})
    assert undemanding.read({"approved": True, "reason": "why"}).value == "[Approved by operator]"


def test_a_note_without_a_reason_is_kept_as_the_reason_too() -> None:
    answer = APPROVAL.read({"approved": True, "approvalNote": "send it late"})
    assert (answer.reason, answer.value) == ("send it late", "send it late")


@pytest.mark.parametrize("text", ["", 3, None, ["a"]], ids=repr)
def test_user_response_must_be_a_non_empty_string(text: Any) -> None:
    with pytest.raises(AnswerInvalid, match="userResponse"):
        APPROVAL.read({"approved": True, "userResponse": text})


def test_value_and_user_response_together_are_refused() -> None:
    with pytest.raises(AnswerInvalid, match="both"):
        APPROVAL.read({"approved": True, "userResponse": "a", "value": "b"})


def test_a_rejection_with_a_value_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="rejection carries no value"):
        APPROVAL.read({"approved": False, "value": "x"})


def test_a_rejection_keeps_who_and_why() -> None:
    answer = APPROVAL.read({"approved": False, "by": "ann", "reason": "wrong list"})
    assert (answer.approved, answer.by, answer.reason) == (False, "ann", "wrong list")


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


@pytest.mark.parametrize(
    "value",
    ["a\x00b", "\ud800", {"__overwrite__": 1}, {"type": "__overwrite__"}, float("nan"), 2**70],
)
def test_values_that_no_database_could_keep_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="the answer"):
        APPROVAL.read({"approved": True, "value": value})


def test_an_answer_over_the_limit_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="larger than 65536 bytes"):
        APPROVAL.read({"approved": True, "value": "x" * 70_000})


@pytest.mark.parametrize("form", [APPROVAL, DOCUMENT, TITLED, ENVELOPE, NUMBER])
def test_the_example_of_a_form_is_an_answer_that_it_takes(form: AnswerForm) -> None:
    decision = Decision.approve(by="x", value=form.example())
    assert form.read(decision.wire()).approved


def test_a_broken_schema_accepts_nothing() -> None:
    form = form_of(output="x", answer_schema={"type": "nonsense"})
    with pytest.raises(AnswerInvalid, match="no JSON Schema"):
        form.read({"approved": True, "value": 1})

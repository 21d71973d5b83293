"""A gate without a schema whose output is a text."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import UNSET
from cinatra_sdk.gates.forms.approval_forms import TextForm
from cinatra_sdk.gates.forms.schema_form import SchemaForm

APPROVAL = TextForm(output="userResponse")
DOCUMENT = TextForm(
    output="doc",
    document_schema={"type": "object", "properties": {"action": {"enum": ["send", "continue"]}}},
)


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
        ({"approved": True, "value": 0}, "0"),
    ],
)
def test_a_gate_without_a_schema_takes_approval_or_free_text(raw: Any, text: str) -> None:
    assert APPROVAL.read(raw).value == text


@pytest.mark.parametrize(
    "value",
    [False, {"approved": False}, {"approved": True, "value": "x"}, {"decisions": []},
     [{"type": "ignore"}]],
)  # fmt: skip
def test_a_decision_inside_an_approval_is_no_text_that_approves(value: Any) -> None:
    with pytest.raises(AnswerInvalid, match="approval"):
        APPROVAL.read({"approved": True, "value": value})


@pytest.mark.parametrize(
    "value", ["\u3164", "\u2800", "\ufe0f", "\u034f", [[]], [""], {"a": ""}, "null", "None"]
)
def test_what_nobody_sees_is_no_word_of_an_approval(value: Any) -> None:
    with pytest.raises(AnswerInvalid, match="no words"):
        APPROVAL.read({"approved": True, "value": value})


def test_a_reason_is_kept_and_never_what_the_flow_goes_on_with() -> None:
    answer = APPROVAL.read({"approved": True, "reason": "I owe Ann a favour"})
    assert (answer.reason, answer.value) == ("I owe Ann a favour", "[Approved by operator]")
    undemanding = SchemaForm(output="x", answer_schema={"type": "object", "properties": {"x": {}}})
    assert undemanding.read({"approved": True, "reason": "why"}).value == "[Approved by operator]"


def test_a_note_without_a_reason_is_kept_as_the_reason_too() -> None:
    answer = APPROVAL.read({"approved": True, "approvalNote": "send it late"})
    assert (answer.reason, answer.value) == ("send it late", "send it late")


def test_a_document_in_the_text_is_checked_and_goes_on_byte_for_byte() -> None:
    good = '{ "action": "send" }'
    assert DOCUMENT.read({"approved": True, "value": good}).value == good
    for bad in ("no json", '{"action": "explode"}', {"action": "explode"}, 3):
        with pytest.raises(AnswerInvalid, match="document in 'doc'"):
            DOCUMENT.read({"approved": True, "value": bad})


def test_a_yes_is_enough_unless_the_author_described_a_document() -> None:
    assert (APPROVAL.needs_data, APPROVAL.text_field, APPROVAL.example()) == (False, "", True)
    assert (DOCUMENT.needs_data, DOCUMENT.text_field) == (True, None)
    assert DOCUMENT.fields_schema == DOCUMENT.document_schema
    DOCUMENT.read({"approved": True, "value": DOCUMENT.example()})
    assert APPROVAL.plain_yes is DOCUMENT.plain_yes is UNSET

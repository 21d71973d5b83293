"""What a gate says of itself to whoever offers a person the ways to answer it."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.gate import Gate

FORMS: dict[str, AnswerForm] = {
    "text": form_of(output="note"),
    "question": form_of(output="city", question=True),
    "unread": form_of(output="signed", unread=True),
    "yes": form_of(output="count", text_output=False),
    "call": form_of(output="mail", confirms=True, call="send", answer_schema={"type": "object"}),
    "call without a schema": form_of(output="mail", confirms=True, call="send"),
    "review": form_of(foreign=True, actions=1),
    "pause": form_of(foreign=True),
    "result": form_of(result=True, answer_schema={"type": "object"}),
    "model's question": form_of(result=True, question=True, answer_schema={"type": "object"}),
}


def _gate(form: AnswerForm) -> Gate:
    return Gate(
        id="g#1", node="g", visit=1, step=1, risk="", name="g", renderer="", schema={}, values={},
        payload={}, form=form,
    )  # fmt: skip


def _named(property_name: str, of: Any) -> set[str]:
    return {name for name, form in FORMS.items() if getattr(of(form), property_name)}


def test_a_call_can_be_denied_and_a_pause_that_reviews_no_call_cannot() -> None:
    assert _named("is_deniable", _gate) == {"call", "call without a schema", "review"}


def test_only_arguments_that_a_schema_describes_can_be_edited() -> None:
    assert _named("is_editable", _gate) == {"call"}


def test_a_yes_answers_what_asks_for_no_fields_and_no_words() -> None:
    data = {"question", "result", "model's question"}
    assert _named("needs_data", lambda form: form) == data
    words = {name: form.needs_words for name, form in FORMS.items()}
    assert {name for name, needed in words.items() if needed} == {"question", "model's question"}
    assert {type(needed) for needed in words.values()} == {bool}


@pytest.mark.parametrize("unread", [True, False])
def test_a_question_takes_its_words_whether_or_not_the_flow_reads_them(unread: bool) -> None:
    form = form_of(output="city", question=True, unread=unread)
    assert form.read({"approved": True, "value": "Lyon"}).value == "Lyon"
    assert form.text_field == ""

"""Answers in the words of other clients: where they mean one thing they are read, else refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid, GateChanged
from cinatra_sdk.gates.dialects import drop_shown_args
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.tool_result_form import result_schema
from cinatra_sdk.gates.gate import Gate

TO: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer"}},
    "required": ["to", "copies"],
    "additionalProperties": False,
}
YES: dict[str, Any] = {
    "type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"],
}  # fmt: skip
QUESTION = form_of(output="city", question=True)
MODELS_QUESTION = form_of(
    result=True,
    question=True,
    answer_schema=result_schema({"answer": {"type": "string"}}, required=["answer"]),
)
CHOICE = form_of(output="choice", answer_schema={"type": "string", "enum": ["Lyon", "", "Nice"]})
SETUP = form_of(
    output="site", text_output=False, bare=True,
    answer_schema={"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]},
)  # fmt: skip
APPROVAL = form_of(output="userResponse")
COUNT = form_of(output="count", text_output=False, output_schema={"type": "integer"})
BUTTON = form_of(output="userResponse", answer_schema=YES)
CALL = form_of(output="mail", confirms=True, call="send", answer_schema=TO)
RULED_CALL = form_of(output="mail", confirms=True, call="send")
QUESTIONS = {"question": QUESTION, "a model's": MODELS_QUESTION, "choice": CHOICE, "setup": SETUP}
GATES = {"approval": APPROVAL, "count": COUNT, "button": BUTTON}
CALLS = {"call": CALL, "ruled": RULED_CALL}


def langchain(kind: str, **more: Any) -> dict[str, Any]:
    return {"decisions": [{"type": kind, **more}]}


def inbox(kind: str, args: Any = None) -> list[dict[str, Any]]:
    return [{"type": kind, "args": args}]


def said(form: AnswerForm, raw: Any) -> Any:
    value = form.read(raw).value
    return next(iter(value.values())) if isinstance(value, dict) else value


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(
    "raw",
    [
        "Lyon",
        {"userResponse": "Lyon"},
        inbox("response", "Lyon"),
        langchain("respond", message="Lyon"),
        {"approved": True, "value": "Lyon"},
        {"approved": True, "userResponse": "Lyon"},
        {"approved": True, "value": {"userResponse": "Lyon"}},
        {"approved": True, "value": inbox("response", "Lyon")},
        {"approved": True, "value": langchain("respond", message="Lyon"), "by": "ann"},
    ],
    ids=str,
)
def test_words_in_any_dialect_answer_a_question(name: str, raw: Any) -> None:
    assert said(QUESTIONS[name], raw) == "Lyon"


@pytest.mark.parametrize(
    "raw",
    [{"userResponse": "Lyon", "by": "ann"}, {**langchain("respond", message="Lyon"), "by": "ann"}],
    ids=str,
)
def test_who_answers_may_stand_beside_the_words(raw: Any) -> None:
    answer = QUESTION.read(raw)
    assert (answer.value, answer.by) == ("Lyon", "ann")


OPEN: dict[str, Any] = {"type": "object"}
LOOSE = {
    "approval": APPROVAL,
    "value": form_of(output="x", text_output=False, output_schema=OPEN),
    "document": form_of(output="x", document_schema=OPEN),
    "data": form_of(output="x", answer_schema=OPEN),
    "anything": form_of(output="x", answer_schema={}),
    "wide call": form_of(output="mail", confirms=True, call="send", answer_schema=OPEN),
}
"""Forms that take any object."""
WHOLE: list[Any] = [
    {"approved": True}, {"approved": True, "reason": "x"}, {"approved": False}, {"approved": "no"},
    {"userResponse": "x"}, {"userResponse": "x", "by": "ann"}, langchain("approve"),
    langchain("reject"), langchain("edit", edited_action={"name": "send", "args": {}}),
    {"type": "accept", "args": None}, {"type": "reject"}, {"type": "response", "args": "x"},
    {"approved": True, "value": {"userResponse": "x"}}, {"decisions": []},
]  # fmt: skip


@pytest.mark.parametrize("name", [*LOOSE, "question", "a model's"])
@pytest.mark.parametrize("value", WHOLE, ids=str)
def test_an_answer_inside_an_approval_is_nowhere_data(name: str, value: Any) -> None:
    form = ({**LOOSE, **QUESTIONS})[name]
    if name in QUESTIONS and value == {"userResponse": "x"}:
        return  # its words: see above
    for said in (value, json.dumps(value), *([[value]] if "type" in value else [])):
        if isinstance(said, list) and value["type"] == "response" and name in QUESTIONS:
            continue
        with pytest.raises(AnswerInvalid):
            form.read({"approved": True, "value": said})


@pytest.mark.parametrize("value", WHOLE, ids=str)
def test_an_object_of_just_these_members_is_data_where_the_author_names_them(value: Any) -> None:
    names = dict.fromkeys(("userResponse", "decisions", "type", "approved", "x"), True)
    form = form_of(
        output="x", answer_schema={"$defs": {"a": {"properties": names}}, "$ref": "#/$defs/a"}
    )
    assert json.loads(form.read({"approved": True, "value": value}).value) == value


@pytest.mark.parametrize(
    "value", [{"type": "invoice"}, {"type": "accept", "of": 1}, {"approved": 1, "sum": 2}]
)
def test_other_data_stays_data(value: Any) -> None:
    assert json.loads(LOOSE["data"].read({"approved": True, "value": value}).value) == value


def test_a_yes_alone_is_the_yes_that_a_button_asks_for() -> None:
    assert BUTTON.read({"approved": True}) == BUTTON.read(langchain("approve"))


VERDICTS = {
    "listed": {"type": "string", "enum": ["approve", "reject", "later"]},
    "in a field": {"type": "object", "properties": {"choice": {"enum": ["approve", "reject", "later"]}}},
    "with titles": {"type": "string", "oneOf": [{"const": "approve"}, {"const": "reject", "title": "No"}, {"const": "later"}]},
}  # fmt: skip


@pytest.mark.parametrize("schema", VERDICTS.values(), ids=list(VERDICTS))
@pytest.mark.parametrize(
    "text", ["reject", "approve", " Reject\n", "APPROVE", "no", "Denied", "cancel"]
)
def test_a_text_that_may_be_a_decision_chooses_nothing(schema: Any, text: str) -> None:
    form = form_of(output="choice", answer_schema=schema)
    for raw in (text, {"userResponse": text}, inbox("response", text), langchain("respond", message=text)):  # fmt: skip
        with pytest.raises(AnswerInvalid, match=r"asks for a choice, and .* may be a decision"):
            form.read(raw)
    assert said(form, "later") == "later"
    assert said(form, {"approved": True, "value": "reject"}) == "reject"
    assert QUESTION.read(text).value == text


@pytest.mark.parametrize("raw", [inbox("accept"), langchain("approve")], ids=str)
def test_an_accept_at_a_choice_says_that_a_choice_is_asked(raw: Any) -> None:
    with pytest.raises(AnswerInvalid, match=r"asks for a choice, and '(accept|approve)' chooses nothing"):  # fmt: skip
        CHOICE.read(raw)


def test_what_was_seen_may_stand_beside_the_words_of_another_client() -> None:
    gate = Gate(
        id="city", node="city", visit=1, step=1, risk="read_only", name="", renderer="", schema={},
        values={}, payload={"values": {"land": "France"}}, form=QUESTION,
    )  # fmt: skip
    for words in ({"userResponse": "Lyon"}, langchain("respond", message="Lyon"), langchain("reject")):  # fmt: skip
        answer = gate.read({**words, "shown": gate.shown[:16], "by": "ann"})
        assert answer.by == "ann"
        with pytest.raises(GateChanged):
            gate.read({**words, "shown": "0" * 16})
        with pytest.raises(AnswerInvalid):
            gate.read({**words, "shown": "seen"})


NO_WORDS: list[Any] = [
    "", " \n\t", "\u200b", "\u00a0\u2003", {"userResponse": ""}, {"userResponse": "  "}, inbox("response", ""),
    langchain("respond", message=" "), inbox("accept"), inbox("accept", {"to": "x"}), langchain("approve"),
    {"approved": True}, {"approved": True, "value": True}, {"approved": True, "value": None},
    {"approved": True, "value": ""}, {"approved": True, "value": "\u2060 "},
    {"approved": True, "value": []}, {"approved": True, "value": {}},
    {"approved": True, "approvalNote": " "}, {"approved": True, "reason": "I like Lyon"},
    {"approved": True, "value": False}, {"approved": True, "value": 0}, {"approved": True, "value": [""]},
    {"approved": True, "value": ["Lyon", ""]}, {"approved": True, "value": "[Approved by operator]"},
    "[Approved by operator]", {"approved": True, "approvalNote": "[Approved by operator]"},
    "[approved by operator].", " [ APPROVED  by\noperator ] ", "[Approved\u200b by operator]", "-", ".",
    "{}", "[]", "[ ]", "—", "…", "??", "/", '""', "_", "*", "\u2500\u2500", "\ufffd", "\u3002", "\u0301",
    {"approved": True, "value": {"userResponse": "-"}}, {"approved": True, "approvalNote": "."},
]  # fmt: skip
WORDS = [
    "Lyon", "はい", "是", "نعم", "हाँ", "👍", "+1", "1", "½", "‼️", "#️⃣", "✓", "❤", "€", "n/a", "none", "no", "a.",
    "ཨོཾ", "ok?", "Approved by operator", "[Approved by operator], but later",
]  # fmt: skip


@pytest.mark.parametrize("name", ["question", "a model's", "setup"])
@pytest.mark.parametrize("text", WORDS)
def test_a_word_of_any_script_and_an_emoji_answer_a_question(name: str, text: str) -> None:
    for raw in (text, {"userResponse": text}, {"approved": True, "value": text}):
        assert said(QUESTIONS[name], raw) == text


@pytest.mark.parametrize("name", ["question", "a model's", "setup"])
@pytest.mark.parametrize("raw", NO_WORDS, ids=repr)
def test_no_words_answer_no_question(name: str, raw: Any) -> None:
    with pytest.raises(AnswerInvalid):
        QUESTIONS[name].read(raw)


TEXT = {"type": "string"}
TWO_TEXTS = {
    "type": "object",
    "properties": {"city": TEXT, "why": TEXT},
    "required": ["city", "why"],
}


@pytest.mark.parametrize(
    ("schema", "blank", "words"),
    [
        ({"anyOf": [TEXT, {"type": "null"}]}, "", "Lyon"),
        ({"type": ["string", "null"]}, " ", None),
        ({"type": "array", "items": TEXT}, [""], ["Lyon"]),
        ({"type": "array", "items": TEXT}, ["", " "], []),
        (TWO_TEXTS, {"city": "", "why": ""}, {"city": "Lyon", "why": "x"}),
        (TWO_TEXTS, '{"city": "", "why": " "}', '{"city": "Lyon", "why": ""}'),
        ({**TWO_TEXTS, "required": ["city"]}, {"city": "", "why": "x"}, {"city": "Lyon", "why": ""}),
    ],
    ids=str,
)  # fmt: skip
def test_blanks_alone_answer_no_schema_that_asks_for_texts(
    schema: Any, blank: Any, words: Any
) -> None:
    form = form_of(output="x", answer_schema=schema)
    with pytest.raises(AnswerInvalid, match="no words"):
        form.read({"approved": True, "value": blank})
    assert form.read({"approved": True, "value": words}).approved


def test_a_number_answers_a_question_whose_schema_has_numbers() -> None:
    schema = result_schema({"n": {"type": "integer"}, "sure": {"type": "boolean"}}, required=["n"])
    form = form_of(result=True, question=True, answer_schema=schema)
    assert form.read({"approved": True, "value": {"n": 0, "sure": False}}).value == {"n": 0, "sure": False}  # fmt: skip


def test_an_empty_text_is_an_answer_where_the_author_lists_it() -> None:
    assert CHOICE.read({"approved": True, "value": ""}).value == ""


def test_a_note_to_the_flow_answers_a_question() -> None:
    assert QUESTION.read({"approved": True, "approvalNote": "Lyon"}).value == "Lyon"


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("raw", [inbox("accept"), inbox("accept", {}), langchain("approve")], ids=str)  # fmt: skip
def test_an_accept_approves_a_gate_that_asks_for_a_yes(name: str, raw: Any) -> None:
    form = GATES[name]
    assert form.read(raw) == form.read(
        {"approved": True, "value": {"approved": True}} if name == "button" else {"approved": True}
    )


SHOWN = {"call": "send", "arguments": {"to": "ann", "copies": 1}}


@pytest.mark.parametrize("name", [*GATES, *CALLS])
@pytest.mark.parametrize(
    "args",
    ["No. Do not send.", {"to": "x"}, ["x"], {"action": "send", "args": {"to": "eve", "copies": 1}},
     {"action": "delete", "args": SHOWN["arguments"]}, {"action": "send", "args": {"to": "ann", "copies": True}},
     0, True],
    ids=str,
)  # fmt: skip
def test_an_accept_of_something_else_than_is_shown_is_refused(name: str, args: Any) -> None:
    form = ({**GATES, **CALLS})[name]
    with pytest.raises(AnswerInvalid, match="'accept' comes with"):
        form.read(drop_shown_args(inbox("accept", args), SHOWN))


def test_an_accept_of_exactly_what_is_shown_approves() -> None:
    shown = inbox("accept", {"action": "send", "args": {"copies": 1, "to": "ann"}})
    for form in CALLS.values():
        assert form.read(drop_shown_args(shown, SHOWN)).value is True
    draft = inbox("accept", {"draft": "Dear Ann"})
    assert APPROVAL.read(drop_shown_args(draft, {"draft": "Dear Ann"})).approved


@pytest.mark.parametrize("key", ["approval_policy", "bearer_token", "rejected_at"])
def test_a_key_that_only_the_host_sets_is_refused_by_name_in_an_edit(key: str) -> None:
    wide = form_of(output="mail", confirms=True, call="send", answer_schema={"type": "object"})
    arguments = {"to": "bob", "copies": 1, key: {"steps": []}}
    for raw in (
        {"approved": True, "value": arguments},
        inbox("edit", {"action": "send", "args": arguments}),
        langchain("edit", edited_action={"name": "send", "args": arguments}),
    ):
        with pytest.raises(AnswerInvalid, match=f"edited arguments hold .*{key}"):
            wide.read(raw)


REVIEW = form_of(output="review", foreign=True, actions=2)
TWO = [{"type": "approve"}, {"type": "reject", "message": "no"}]


@pytest.mark.parametrize(
    "value",
    ["reject", "no", False, 0, None, [], {}, {"type": "reject"}, ["reject"], {"decisions": []},
     {"decisions": [{"type": "reject"}] * 2}, {"decisions": [{"type": "approve"}]},
     {"decisions": TWO, "approved": False}, {"decisions": [{"type": "approve"}, "reject"]},
     {"decisions": [{"type": "approve"}, {"type": "maybe"}]}, TWO],
    ids=repr,
)  # fmt: skip
def test_an_approval_of_a_review_has_no_value_that_says_otherwise(value: Any) -> None:
    with pytest.raises(AnswerInvalid, match=r"the review asks about 2 calls|each of its decisions rejects"):  # fmt: skip
        REVIEW.read({"approved": True, "value": value})


def test_an_approval_of_a_review_may_decide_each_call() -> None:
    answer = REVIEW.read({"approved": True, "value": {"decisions": TWO}})
    assert REVIEW.make_resume(answer) == {"decisions": TWO}  # type: ignore[attr-defined]
    assert REVIEW.read({"approved": True}).value is True
    assert form_of(output="x", foreign=True).read({"approved": True, "value": "reject"}).value == "reject"  # fmt: skip


@pytest.mark.parametrize("name", [*QUESTIONS, *GATES])
@pytest.mark.parametrize(
    ("raw", "reason"),
    [(inbox("ignore"), ""), (langchain("reject"), ""), (langchain("reject", message="no"), "no")],
    ids=str,
)
def test_ignore_and_reject_end_the_run_at_a_gate_before_no_call(
    name: str, raw: Any, reason: str
) -> None:
    answer = ({**QUESTIONS, **GATES})[name].read(raw)
    assert (answer.approved, answer.denied, answer.reason) == (False, False, reason)


@pytest.mark.parametrize("name", CALLS)
def test_at_a_call_a_reject_lets_the_run_go_on_and_an_ignore_ends_it(name: str) -> None:
    rejected, ignored = CALLS[name].read(langchain("reject")), CALLS[name].read(inbox("ignore"))
    assert (rejected.approved, rejected.denied) == (False, True)
    assert (ignored.approved, ignored.denied) == (False, False)


@pytest.mark.parametrize("name", [*GATES, *CALLS])
@pytest.mark.parametrize(
    "raw",
    [
        "approve", "yes", "no", "Shorter, please", {"userResponse": "Shorter"},
        inbox("response", "Shorter"), inbox("response", "yes"), langchain("respond", message="ok"),
    ],
    ids=str,
)  # fmt: skip
def test_words_alone_neither_approve_nor_reject(name: str, raw: Any) -> None:
    with pytest.raises(AnswerInvalid):
        ({**GATES, **CALLS})[name].read(raw)


EVERY = {**QUESTIONS, **GATES, **CALLS}
_OTHERS: list[Any] = [
    [], {"decisions": []}, {"decisions": {}}, {"decisions": None}, {"decisions": ["approve"]},
    [{"type": "reject"}, {"type": "accept", "args": None}], inbox("ignore") * 2,
    {"decisions": [{"type": "reject"}] * 2}, {"decisions": [{"type": "reject"}, {"type": "approve"}]},
    inbox("approve"), inbox("Accept"), inbox(""), [{"type": 1}], [{"type": None}], [{"type": ["accept"]}],
    langchain("accept"), langchain("ignore"), langchain("response", args="x"), langchain("APPROVE"),
    [{"type": "accept", "args": None, "approved": False}], [{"type": "ignore", "goto": "send"}],
    langchain("reject", reason="no"), langchain("approve", message="ok"), langchain("reject", message=1),
    {**langchain("reject"), "goto": "send"}, {**langchain("approve"), "approved": False},
    {"userResponse": "x", "decisions": [{"type": "approve"}]}, {"userResponse": "x", "goto": "send"},
    {"type": "accept", "args": None}, {"type": "approve"}, {"edits": {}}, {"approved": "true"},
    inbox("response", ["x"]), inbox("response"), langchain("respond"), langchain("respond", message=None),
    [inbox("ignore")], {"resume": "x"},
]  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("raw", _OTHERS, ids=repr)
def test_anything_else_is_refused_at_every_gate(name: str, raw: Any) -> None:
    with pytest.raises(AnswerInvalid):
        EVERY[name].read(raw)


EDITS: list[Any] = [
    {"approved": True, "value": {"to": "bob", "copies": 2}},
    inbox("edit", {"action": "send", "args": {"to": "bob", "copies": 2}}),
    langchain("edit", edited_action={"name": "send", "args": {"to": "bob", "copies": 2}}),
]


@pytest.mark.parametrize("raw", EDITS, ids=str)
def test_an_edit_is_an_approval_with_other_arguments(raw: Any) -> None:
    answer = CALL.read(raw)
    assert (answer.approved, answer.value) == (True, {"to": "bob", "copies": 2})


@pytest.mark.parametrize("raw", EDITS, ids=str)
def test_a_call_that_rules_have_examined_is_not_edited(raw: Any) -> None:
    with pytest.raises(
        AnswerInvalid, match=r"the arguments of the call of 'send' cannot be edited"
    ):
        RULED_CALL.read(raw)


@pytest.mark.parametrize("name", [*QUESTIONS, *GATES])
@pytest.mark.parametrize("raw", EDITS[1:], ids=str)
def test_there_is_nothing_to_edit_at_a_gate_before_no_call(name: str, raw: Any) -> None:
    with pytest.raises(AnswerInvalid, match="stands before no call"):
        ({**QUESTIONS, **GATES})[name].read(raw)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"to": "bob"}, "lacks the required 'copies'"),
        ({}, "lacks the required"),
        ({"to": "bob", "copies": "two"}, "copies: not of type 'integer'"),
        ({"to": None, "copies": 1}, "to: not of type 'string'"),
        ({"to": "bob", "copies": 1, "bcc": "eve"}, "not allowed"),
        ("bob", "no object"),
        (["bob"], "no object"),
        (None, "no object"),
    ],
    ids=str,
)
def test_edited_arguments_have_to_fit_the_tool(arguments: Any, why: str) -> None:
    for raw in (
        {"approved": True, "value": arguments},
        inbox("edit", {"action": "send", "args": arguments}),
        langchain("edit", edited_action={"name": "send", "args": arguments}),
    ):
        with pytest.raises(AnswerInvalid, match=why):
            CALL.read(raw)


@pytest.mark.parametrize(
    "raw",
    [
        inbox("edit", {"action": "delete", "args": {"to": "bob", "copies": 1}}),
        inbox("edit", {"action": "send", "args": {"to": "bob", "copies": 1}, "id": "1"}),
        inbox("edit", {"to": "bob", "copies": 1}),
        inbox("edit"),
        [{"type": "edit"}],
        langchain("edit", edited_action={"name": "delete", "args": {"to": "bob", "copies": 1}}),
        langchain("edit", edited_action={"args": {"to": "bob", "copies": 1}}),
        langchain("edit", edited_action={"name": ["send"], "args": {"to": "bob", "copies": 1}}),
        langchain("edit"),
        langchain("edit", args={"to": "bob", "copies": 1}),
    ],
    ids=str,
)
def test_an_edit_changes_the_arguments_of_the_call_that_was_shown_and_nothing_else(
    raw: Any,
) -> None:
    with pytest.raises(AnswerInvalid):
        CALL.read(raw)

"""The forms of answers say and read what one form class with four modes said and read.

`recorded.json` was written by that class: for every form of `recorded_cases.FORMS` its schema, its
example, what a person is asked, and what becomes of every answer of `recorded_cases.ANSWERS`.  Two
examples of selections were mended since: their schemas take the envelope as a text only.  And three
kinds of answers are read otherwise since: null and empty values went on as the texts `null`, `[]`, `{}`
and `` (`MENDED`), a text alone was refused where the whole answer is a text, and false or a decision
inside an approval approved (`contradicts`), at the forms of `YES_FORMS` too.  A value that is a whole
answer of its own (`is_whole`) went on as data; a text without a letter was words; and a yes alone was
refused where the author's schema asks for the yes and nothing else (`PLAIN_YES`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from recorded_cases import ANSWERS, FORMS, selector_of

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import has_words
from cinatra_sdk.gates.decisions import UNSET
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.gate import read_answer

RECORDED: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "recorded.json").read_text(encoding="utf-8")
)


WORDLESS: Final = frozenset({"null", '""', "[]", "{}", '"{}"'})
"""JSON of the values that say nothing."""
MENDED: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("default", "text"), WORDLESS),
    **dict.fromkeys(
        ("schema: a text", "schema: titled text", "setup: a text", "bare text"),
        frozenset({'""', '"{}"'}),
    ),
}
"""Form → the values that it took as a text and refuses now, since they have no words."""
ASK_FOR_WORDS: Final = frozenset(
    {"schema: a text", "schema: titled text", "setup: a text", "bare text"}
)
"""The forms that take a text alone now."""


def is_wordless(name: str, raw: Any) -> bool:
    said = raw.get("value", ...) if isinstance(raw, dict) and raw.get("approved") is True else ...
    if isinstance(said, dict) and name in {"default", "text"}:
        return not has_words(said)
    return said is not ... and as_json(said) in MENDED.get(name, ())


def contradicts(raw: Any) -> bool:
    """Whether the value says no by itself, or decides: it went on as a text, and the gate was approved."""
    said = raw.get("value") if isinstance(raw, dict) and raw.get("approved") is True else None
    return said is False or (isinstance(said, dict) and "approved" in said)


YES_FORMS: Final = frozenset({"schema: a yes", "schema: a titled yes", "anything", "object with a document"})  # fmt: skip


def says_no(name: str, raw: Any) -> bool:
    """Whether the value of an approval is a no at a form that takes a yes, or any data."""
    said = raw.get("value") if isinstance(raw, dict) and raw.get("approved") is True else None
    return said == {"approved": False} or (said is False and name == "schema: a titled yes")


PLAIN_YES: Final = {"schema: a yes": '{"approved":true}', "schema: a titled yes": "true"}
"""Form → the value of a yes alone."""


def is_whole(name: str, raw: Any) -> bool:
    """Whether the value is an answer of its own, whose members no schema of the form names."""
    said = raw.get("value") if isinstance(raw, dict) and raw.get("approved") is True else None
    named = json.dumps(FORMS[name])
    return isinstance(said, dict) and any(
        said.keys() == {key} and f'"{key}": {{' not in named for key in ("approved", "userResponse")
    )


def is_plain_yes(name: str, raw: Any) -> bool:
    return name in PLAIN_YES and isinstance(raw, dict) and raw.get("approved") is True and not {"value", "userResponse"} & raw.keys() and all(isinstance(one, (bool, str)) and one != "a\u200bnn" for one in raw.values())  # fmt: skip


def build_form(name: str) -> AnswerForm:
    given = dict(FORMS[name])
    selects = given.pop("selects", None)
    return form_of(**given, selector=None if selects is None else selector_of(selects))


def outcome(form: AnswerForm, raw: Any) -> dict[str, Any]:
    try:
        answer = form.read(raw)
    except AnswerInvalid as error:
        return {"refused": error.message} | ({"hint": error.hint} if error.hint else {})
    texts = {"reason": answer.reason, "by": answer.by, "at": answer.at}
    key = "value" if answer.approved else "rejected"
    return {key: answer.value} | {name: text for name, text in texts.items() if text}


def example(form: AnswerForm) -> dict[str, Any]:
    try:
        return {"value": form.example()}
    except ValueError as error:
        return {"refused": str(error)}


def as_json(value: Any) -> str:
    """The value in a text that tells 1, 1.0 and true apart."""
    return json.dumps(value)


def test_every_form_is_recorded() -> None:
    assert list(RECORDED["forms"]) == list(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_every_answer_is_read_or_refused_as_before(name: str) -> None:
    form = build_form(name)
    numbers = map(int, RECORDED["forms"][name]["answers"].split())
    expected = [RECORDED["outcomes"][number] for number in numbers]
    for raw, before in zip(ANSWERS, expected, strict=True):
        now = outcome(form, raw)
        if is_wordless(name, raw):
            assert now["refused"] == "the answer has no words"
        elif (name in {"default", "text"} or "selection" in name) and contradicts(raw):
            assert now["refused"]
        elif name in YES_FORMS and says_no(name, raw):
            assert now["refused"] == "the answer approves, and its value does not"
        elif is_whole(name, raw) and "refused" not in before:
            assert now["refused"] == "the value is an answer of its own inside an approval"
        elif is_whole(name, raw) and name in ASK_FOR_WORDS and "userResponse" in raw["value"]:
            words = raw["value"]["userResponse"]
            assert now == {"value": words} if isinstance(words, str) else now["refused"]
        elif is_plain_yes(name, raw) and "goto" not in raw:
            assert now["value"] == PLAIN_YES[name]
        elif name in ASK_FOR_WORDS and isinstance(raw, str):
            assert now == {"value": raw}
        else:
            assert as_json(now) == as_json(before), raw


@pytest.mark.parametrize("name", FORMS)
def test_a_form_says_of_itself_what_it_said_before(name: str) -> None:
    form, before = build_form(name), RECORDED["forms"][name]
    yes = form.plain_yes
    now = {
        "schema": form.schema(),
        "example": example(form),
        "kept": form.to_record(),
        "needs_data": form.needs_data,
        "yes": {} if yes is UNSET else {"value": yes},
        "text_field": form.text_field,
        "named": form.name_value(1),
    }
    if isinstance(form, SelectionForm):
        now["envelope"] = form.carry_envelope({"slotId": "ü"})
    assert as_json(now) == as_json({key: before[key] for key in now})


@pytest.mark.parametrize("name", FORMS)
def test_a_refusal_is_told_in_the_same_words(name: str) -> None:
    told = ""
    try:
        read_answer(build_form(name), {"approved": True, "value": [[7]]}, gate="ask")
    except AnswerInvalid as error:
        told = str(error)
    assert told == RECORDED["forms"][name]["told"]


@pytest.mark.parametrize("name", FORMS)
def test_a_form_comes_back_from_what_its_gate_keeps(name: str) -> None:
    form = build_form(name)
    kept = form.to_record()
    schemas = {
        argument: None if kept[key] is None else json.loads(str(kept[key]))
        for argument, key in (
            ("answer_schema", "answerSchema"),
            ("output_schema", "outputSchema"),
            ("document_schema", "innerSchema"),
        )
    }
    again = form_of(
        output=str(kept["output"]),
        text_output=kept["textOutput"] is True,
        bare=kept["bare"] is True,
        selector=form.selector if isinstance(form, SelectionForm) else None,
        **schemas,
    )
    assert again == form

"""A question needs words: at a gate that takes no yes, `a` asks for them."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from printed import hashed

from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.approval_forms import TextForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.tool_result_form import result_schema
from cinatra_sdk.gates.gate import Gate
from oas_compiler.cli.ask.gate_dialogue import Asker, needs_words
from oas_compiler.cli.terminal.streams import Terminal, console_for
from tests.flows import end, flow_of, node, port, start

GATE = Gate(
    id="colour", node="colour", visit=1, step=1, risk="read_only", name="Colour", renderer="x",
    schema={}, values={"asked": "Which colour?"}, payload={}, form=TextForm(output="colour", is_question=True),
)  # fmt: skip
TWO: dict[str, Any] = {
    "type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}},
    "required": ["n", "m"],
}  # fmt: skip


def asked(monkeypatch: pytest.MonkeyPatch, gate: Gate, *lines: str) -> tuple[Decision | None, str]:
    """What a person who types these lines decides, and what they were told."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    told = io.StringIO()
    terminal = Terminal(console_for(io.StringIO()), console_for(told), as_json=False)
    return Asker(terminal, "ann").decide(gate), told.getvalue()


@pytest.mark.parametrize("letter", ["a", "approve", "w"])
def test_an_approval_of_a_question_asks_for_the_words(
    monkeypatch: pytest.MonkeyPatch, letter: str
) -> None:
    decision, told = asked(monkeypatch, GATE, letter, "green")
    assert decision is not None
    assert (decision.approved, decision.value, decision.by) == (True, "green", "ann")
    assert "your words: " in told
    assert "answer in words [a], reject [r], leave waiting [q]: " in told


@pytest.mark.parametrize("nothing", ["", "   ", "<"])
def test_no_words_approve_nothing_and_the_question_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, nothing: str
) -> None:
    decision, told = asked(monkeypatch, GATE, "a", nothing, "q")
    assert decision is None
    assert told.count("leave waiting [q]: ") == 2
    assert ("no words were typed, and nothing was decided" in told) is (nothing != "<")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a blue", 'words behind a are no answer: type "w blue" to answer with them'),
        ("approve dark  blue", 'type "w dark  blue" to answer'),
    ],
)
def test_words_behind_the_approval_of_a_question_are_no_reason(
    monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    decision, told = asked(monkeypatch, GATE, line, "q")
    assert decision is None
    assert said in told
    decision, _ = asked(monkeypatch, GATE, line, "w blue")
    assert decision is not None
    assert (decision.value, decision.reason) == ("blue", "")


def test_json_is_not_taken_as_a_reason_and_a_wrong_letter_is_told_the_right_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = replace(GATE, form=form_of(output="x", text_output=False, answer_schema=TWO))
    decision, told = asked(monkeypatch, data, 'j {"n": 1, "m": 2}', "what", "j", '{"n": 1, "m": 2}')
    assert decision is not None
    assert (decision.value, decision.reason) == ({"n": 1, "m": 2}, "")
    assert "type j alone: the JSON is asked next" in told
    assert "Type one of the letters (a, j, e, r, v, q) and press Enter." in told


def test_pasted_json_is_not_offered_where_words_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    decision, told = asked(monkeypatch, GATE, "j", "q")
    assert decision is None
    assert "Type one of the letters" in told


def test_a_question_can_be_rejected_without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    decision, _ = asked(monkeypatch, GATE, "r", "not my task")
    assert decision is not None
    assert (decision.kind, decision.reason) == ("rejected", "not my task")


def test_a_gate_that_takes_a_yes_is_approved_by_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = replace(GATE, form=TextForm(output="colour"))
    assert not needs_words(plain.form)
    decision, told = asked(monkeypatch, plain, "a fine")
    assert decision is not None
    assert (decision.kind, decision.reason) == ("approved", "fine")
    assert "your words" not in told


@pytest.mark.parametrize("typed", ["w no", "w", "words no", "e"])
def test_no_words_are_offered_where_nothing_reads_them(
    monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    unread = replace(GATE, form=TextForm(output="colour", is_read=False))
    decision, told = asked(monkeypatch, unread, typed, "q")
    assert decision is None
    assert "Type one of the letters" in told
    assert "answer in words" not in told
    read = replace(GATE, form=TextForm(output="colour"))
    assert "answer in words [w]" in asked(monkeypatch, read, "q")[1]


HINT = 'type "" for an empty text'
TITLE: dict[str, Any] = {"type": "string"}


def hint_of(monkeypatch: pytest.MonkeyPatch, form: AnswerForm) -> bool:
    """Whether a person who leaves a field of the form empty is told of the empty text."""
    decision, told = asked(monkeypatch, replace(GATE, form=form), "a", "", "<", "q")
    assert decision is None
    assert "Something is needed here" in told
    return HINT in told


@pytest.mark.parametrize(
    "form",
    [
        form_of(output="title", answer_schema={"type": "string"}),
        form_of(output="title", answer_schema={"type": "string", "minLength": 1}),
        form_of(
            output="site", bare=True,
            answer_schema={"type": "object", "properties": {"site": TITLE}, "required": ["site"]},
        ),
        form_of(
            result=True, question=True, answer_schema=result_schema({"said": TITLE}, required=["said"])
        ),
        form_of(
            output="review",
            answer_schema={
                "type": "object", "required": ["text", "count"],
                "properties": {"text": {"type": "string", "pattern": "."}, "count": {"type": "integer"}},
            },
        ),
    ],
    ids=["a text", "a text with a length", "a setup", "a model's question", "a field with a pattern"],
)  # fmt: skip
def test_no_empty_text_is_offered_where_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, form: AnswerForm
) -> None:
    assert not hint_of(monkeypatch, form)


def test_an_empty_text_is_offered_where_one_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    both: dict[str, Any] = {"text": {"type": "string"}, "note": {"type": "string"}}
    schema = {"type": "object", "properties": both, "required": [*both]}
    assert hint_of(monkeypatch, form_of(output="review", answer_schema=schema))


def test_a_decision_that_the_gate_refuses_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decision, told = asked(monkeypatch, GATE, "w \x00", "q")
    assert decision is None
    assert "error: " in told


@pytest.mark.parametrize("more", [(), ("--reason", "fine"), ("--as", "ann")], ids=str)
def test_an_approval_of_a_question_prints_the_command_that_answers_it(
    cli: Any, flow_file: Any, more: tuple[str, ...]
) -> None:
    ask = node("InputMessageNode", "city", message="Where do you live?", outputs=[port("said")])
    flow = flow_of(start(), ask, end(port("said")), edges=[("city", "said", "end", "said")])
    assert cli("run", flow_file(flow), "--detach", "--run-id", "r1").exit_code == 3
    refused = cli("approve", "r1/city", *more)
    assert refused.exit_code == 2
    told = hashed(" ".join(refused.output.split()))
    assert "asks a question, and an approval has no words: use oasflow answer with --text" in told
    assert "oasflow answer r1/city --shown HASH --text '…'" in told
    assert cli("answer", "r1/city", "--text", "Lyon").exit_code == 0


def test_every_door_of_the_command_line_reads_or_refuses_as_a_resumed_graph(
    cli: Any, flow_file: Any
) -> None:
    asking = node("InputMessageNode", "city", message="Where?", outputs=[port("said")])
    path = flow_file(
        flow_of(start(), asking, end(port("said")), edges=[("city", "said", "end", "said")])
    )
    assert cli("run", path, "--run-id", "w1").exit_code == 3
    for words in (
        ("--value", '{"approved": true}'), ("--value", '{"type": "accept"}'), ("--text", "-"),
        ("--text", "[approved by operator]"), ("--text", "Lyon", "--shown", ""),
        ("--value", '{"decisions": [{"type": "approve"}]}'),
    ):  # fmt: skip
        refused = cli("answer", "w1/city", *words)
        assert (refused.exit_code, "error: " in refused.stderr) == (2, True), words
    assert "--shown is empty" in cli("deny", "w1/city", "--shown", "").stderr
    done = cli("answer", "w1/city", "--value", '{"userResponse": "Lyon"}', "--json")
    assert json.loads(done.stdout)["outputs"] == {"said": "Lyon"}

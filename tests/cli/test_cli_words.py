"""A question needs words: at a gate that takes no yes, `a` asks for them."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.forms.text import TextForm
from cinatra_sdk.gates.gate import Gate
from oas_compiler.cli.ask import Asker, needs_words
from oas_compiler.cli.terminal import Terminal, console_for

GATE = Gate(
    id="colour", node="colour", visit=1, step=1, risk="read_only", name="Colour", renderer="x",
    schema={}, values={"asked": "Which colour?"}, payload={}, form=TextForm(output="colour", is_question=True),
)  # fmt: skip


def asked(monkeypatch: pytest.MonkeyPatch, gate: Gate, *lines: str) -> tuple[Decision | None, str]:
    """What a person who types these lines decides, and what they were told."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    told = io.StringIO()
    terminal = Terminal(console_for(io.StringIO()), console_for(told), as_json=False)
    return Asker(terminal, "ann").decide(gate), told.getvalue()


@pytest.mark.parametrize("letter", ["a", "approve", "a quickly", "w"])
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


def test_a_decision_that_the_gate_refuses_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decision, told = asked(monkeypatch, GATE, "w \x00", "q")
    assert decision is None
    assert "error: " in told

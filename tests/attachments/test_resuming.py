"""A person's answer with files, through a channel of text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cinatra_sdk.attachments import (
    AnswerRule,
    BridgeCall,
    find_answer_rules,
    read_resume,
    read_user_envelope,
    wrap_answer,
    wrap_resume,
)
from cinatra_sdk.attachments.envelope import enclose_text
from tests.attachments.samples import PDF, vectors, wire
from tests.effort import tries


@pytest.mark.parametrize("row", vectors("wrapping"))
def test_each_row_of_the_vectors_is_wrapped_as_it_says(row: dict[str, Any]) -> None:
    assert wrap_resume(row["text"], row["refs"]) == row["is"]


@pytest.mark.parametrize("text", ["", "Fine.", "5", "[1]", '{"text": '])
def test_plain_words_become_an_envelope_without_files(text: str) -> None:
    opened = read_user_envelope(enclose_text(text), enabled=True)
    assert (opened.text, opened.attachments) == (text, None)


@pytest.mark.parametrize("text", ['{"text": "a"}', '{"other": 1}', wrap_resume("a", [wire()])])
def test_the_json_of_an_object_stays_for_whoever_opens_it(text: str) -> None:
    assert enclose_text(text) == text


@pytest.mark.parametrize("row", vectors("resume"))
def test_each_row_of_the_vectors_is_resumed_as_it_says(row: dict[str, Any]) -> None:
    answer = read_resume(row["values"])
    assert answer.text == row["text"]
    assert answer.submitted_values == row["submitted"]
    assert answer.parts() == [{"kind": "text", "text": row["text"]}]


def test_the_first_twenty_valid_refs_are_kept() -> None:
    refs = [None, *({**PDF, "artifactId": f"a{number}"} for number in range(25))]
    kept = json.loads(wrap_resume("yes", refs))["attachments"]
    assert [ref["artifactId"] for ref in kept] == [f"a{number}" for number in range(20)]


def test_half_a_character_is_kept_as_an_escape() -> None:
    wrapped = wrap_resume("a\ud800b", [PDF])
    assert wrapped.encode()
    assert json.loads(wrapped)["text"] == "a\ud800b"


@settings(max_examples=tries(60, 2000), print_blob=True)
@given(text=st.text(st.characters(exclude_categories=())), refs=st.recursive(st.none() | st.text() | st.floats(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_wrapping_never_raises(text: str, refs: Any) -> None:
    assert isinstance(wrap_resume(text, refs), str)


@pytest.mark.parametrize("row", vectors("answer_rules"))
def test_each_row_of_the_vectors_finds_the_rules_that_it_says(row: dict[str, Any]) -> None:
    sources = {name: [tuple(pair) for pair in pairs] for name, pairs in row["sources"].items()}
    call = BridgeCall(node="review", body=row["body"], sources=sources)
    gates = [("ask", "note"), ("ask2", "note")]
    assert find_answer_rules([call], gates) == tuple(
        AnswerRule(gate=gate, output=output, call=node) for gate, output, node in row["rules"]
    )


def test_only_an_answer_that_a_rule_names_is_wrapped() -> None:
    rules = [AnswerRule(gate="ask", output="note", call="review")]
    assert wrap_answer("yes", [PDF], gate="other", rules=rules) == "yes"
    assert wrap_answer("yes", [PDF], gate="ask", rules=rules) == wrap_resume("yes", [PDF])


def test_an_answer_reaches_the_bridge_with_its_files_through_one_text_part() -> None:
    answered = wrap_resume("Use these.", [wire(title="Plan")])
    (part,) = read_resume({"userResponse": answered}).parts()
    assert part["kind"] == "text"
    envelope = read_user_envelope(str(part["text"]), enabled=True)
    assert envelope.text == "Use these."
    assert [ref.title for ref in envelope.attachments or ()] == ["Plan"]

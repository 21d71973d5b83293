"""WayFlow's nodes over texts: patterns with flags, JSON in a text, and the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import end, flow_of, message, plain, port, start
from tests.wayflow.nodes import around, extended

TEXT = [port("text")]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ({"pattern": "a(.)b", "match": "first"}, "x"),
        ({"pattern": "a(.)b", "match": "last"}, "y"),
        ({"pattern": "A(.)B", "match": "first", "flags": 2}, "x"),
        ({"pattern": "b(.)a", "flags": 16}, "\n"),
        ({"pattern": "b(.)a"}, ""),
    ],
)
def test_a_pattern_has_flags_and_a_match(pattern: Any, found: str) -> None:
    node = extended("PluginRegexNode", "find", regex_pattern=pattern, return_first_match_only=True)
    flow = compile_flow(around(node, TEXT, [port("output")]))
    assert drive(flow, {"text": "axb\nayb"}).outputs == {"output": found}


@pytest.mark.parametrize("pattern", [7, {"match": "first"}, {"pattern": "a", "flags": 4}, {"pattern": "a", "match": "all"}])  # fmt: skip
def test_a_pattern_of_another_form_is_found(pattern: Any) -> None:
    node = extended("PluginRegexNode", "find", regex_pattern=pattern)
    assert [one.code for one in check(around(node, TEXT, [port("output")])).errors] == ["OAS022"]


def extracting(ways: Any, *outputs: Any) -> Any:
    node = extended("PluginExtractNode", "take", output_values=ways, outputs=list(outputs))
    return around(node, TEXT, list(outputs))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "at": [{"n": 3}]}',
        'Thought.\n```json\n{"name": "Ada", "at": [{"n": 3}]}\n```\nDone.',
        'The answer is {"name": "Ada", "at": [{"n": 3}]}.',
        '```{"other": 1}```\n```{"name": "Ada", "at": [{"n": 3}]}```',
    ],
)
def test_values_are_taken_out_of_the_json_in_a_text(text: str) -> None:
    flow = compile_flow(
        extracting({"name": ".name", "n": ".at[0].n"}, port("name"), port("n", "integer"))
    )
    assert drive(flow, {"text": text}).outputs == {"name": "Ada", "n": 3}


def test_a_text_without_json_fails() -> None:
    ran = drive(compile_flow(extracting({"name": ".name"}, port("name"))), {"text": "none"})
    assert "the text has no JSON in it" in str(ran.error)


def test_a_value_that_needs_jq_or_a_model_is_refused() -> None:
    node = extended(
        "PluginExtractNode", "take", output_values={"has": 'has("name")'}, retry=True,
        outputs=[port("has", "boolean")],
    )  # fmt: skip
    told = [one.message for one in check(around(node, TEXT, [port("has", "boolean")])).errors]
    assert len(told) == 1
    assert 'PluginExtractNode "take" with output_values ("has" needs jq' in told[0]
    assert 'PluginExtractNode "take" with retry' in told[0]


def telling(**fields: Any) -> Any:
    history = extended("PluginGetChatHistoryNode", "history", **fields)
    kind = "array" if fields.get("output_template", "") is None else "string"
    return plain(
        flow_of(
            start(), message("one", "First"), message("two", "Second"), message("three", "Third"),
            history, end(port("chat_history", kind)),
            edges=[("history", "chat_history", "end", "chat_history")],
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "AGENT >> First\nAGENT >> Second\nAGENT >> Third"),
        ({"n": 2}, "AGENT >> Second\nAGENT >> Third"),
        ({"n": 1, "offset": 1}, "AGENT >> Second"),
        ({"n": 1, "offset": 5}, ""),
        ({"n": 1, "which_messages": "first", "offset": 1}, "AGENT >> Second"),
        ({"message_types": ["USER"]}, ""),
        ({"output_template": "{% for m in chat_history %}{{ m.content }} {% endfor %}"}, "First Second Third "),
        ({"n": 1, "output_template": None, "message_types": None}, [{"message_type": "AGENT", "content": "Third"}]),
    ],
)  # fmt: skip
def test_the_conversation_is_told(fields: Any, told: Any) -> None:
    assert drive(compile_flow(telling(**fields)), {}).outputs == {"chat_history": told}

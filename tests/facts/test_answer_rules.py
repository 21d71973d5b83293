"""Which person's answer reaches which call of the bridge with files."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import pytest

from oas_compiler.facts.answer_rules import read_answer_rules
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

BRIDGE = "{{CINATRA_BASE_URL}}/api/llm-bridge"


def call(user: str = "{{ note }}", *, url: str = BRIDGE, **more: Any) -> dict[str, Any]:
    data = {"user": user, "agent_id": "@x/a", "user_envelope": True, **more}
    return api("draft", url=url, inputs=[port("note")], data=data, outputs=[port("text")])


def ask() -> dict[str, Any]:
    return gate("ask", output=port("note"))


def straight(*, made: Any = None, **more: Any) -> dict[str, Any]:
    return flow_of(
        start(), ask(), made or call(**more), end(port("text")),
        edges=[("ask", "note", "draft", "note"), ("draft", "text", "end", "text")],
    )  # fmt: skip


def rules(flow: Any) -> list[tuple[str, str, str]]:
    found = read_answer_rules(json.dumps(flow).encode())
    return [(rule.gate, rule.output, rule.call) for rule in found]


def test_an_answer_that_is_the_whole_user_of_a_call_that_opens_envelopes() -> None:
    assert rules(straight()) == [("ask", "note", "draft")]


@pytest.mark.parametrize(
    "more",
    [
        {"user_envelope": False},
        {"user_envelope": "true"},
        {"user": "Note: {{ note }}"},
        {"user": "{{ note | trim }}"},
        {"url": "{{CINATRA_BASE_URL}}/api/agents/passthrough"},
    ],
)
def test_every_other_call_takes_no_files(more: Any) -> None:
    assert rules(straight(**more)) == []


def test_the_answer_is_followed_into_a_subflow_and_out_of_it() -> None:
    asking = flow_of(
        start(), ask(), end(port("note")), edges=[("ask", "note", "end", "note")], id="asking"
    )
    writing = flow_of(
        start(port("note")), call(), end(port("text")),
        edges=[("start", "note", "draft", "note"), ("draft", "text", "end", "text")], id="writing",
    )  # fmt: skip
    flow = flow_of(
        start(), flow_node("first", asking), flow_node("then", writing), end(port("text")),
        edges=[("first", "note", "then", "note"), ("then", "text", "end", "text")],
    )  # fmt: skip
    assert rules(flow) == [("first/ask", "note", "then/draft")]


def test_an_answer_that_a_node_changes_is_another_value() -> None:
    shout = node(
        "PluginTemplateNode", "shout", template="{{ note }}!", inputs=[port("note")],
        outputs=[port("loud")], component_plugin_name="NodesPlugin",
        component_plugin_version="26.2.0.dev0",
    )  # fmt: skip
    flow = flow_of(
        start(), ask(), shout, call(), end(port("text")),
        edges=[("ask", "note", "shout", "note"), ("shout", "loud", "draft", "note"),
               ("draft", "text", "end", "text")],
    )  # fmt: skip
    assert rules(flow) == []


def test_two_gates_that_feed_one_call_both_count() -> None:
    again = gate("again", output=port("note"))
    flow = flow_of(
        start(), ask(), again, call(), end(port("text")),
        edges=[("ask", "note", "draft", "note"), ("again", "note", "draft", "note"),
               ("draft", "text", "end", "text")],
    )  # fmt: skip
    assert rules(flow) == [("ask", "note", "draft"), ("again", "note", "draft")]


@pytest.mark.parametrize("raw", [b"", b"[1]", b"{", b'{"component_type": "Agent"}'])
def test_bytes_that_are_no_flow_have_no_rules(raw: bytes) -> None:
    assert read_answer_rules(raw) == ()


def test_a_host_finds_them_by_their_name() -> None:
    (found,) = metadata.entry_points(group="oasflow.flow_facts", name="answer_rules")
    assert found.load() is read_answer_rules

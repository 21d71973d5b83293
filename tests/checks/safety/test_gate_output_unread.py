from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, gate, node, port, start

CODE = "OAS222"
AT = "/$referenced_components/ask"
SITE = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
YES = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
QUESTION = node("InputMessageNode", "ask", message="Where do you live?", outputs=[port("said")])


def test_a_question_whose_answer_nothing_reads_is_named():
    (finding,) = findings(flow_of(start(), QUESTION, api("write"), end()), CODE)
    assert (finding.pointer, finding.severity) == (AT, "warning")
    assert finding.message == 'nothing reads what a person answers at "ask"'


@pytest.mark.parametrize(
    "asking",
    [
        gate("ask", output=port("said"), inputMessageSchema=SITE),
        node("InputMessageNode", "ask", outputs=[{"title": "said", "enum": ["a", "b"]}]),
    ],
    ids=["data", "a choice"],
)
def test_data_that_a_person_fills_in_for_nobody_is_named(asking: Any):
    assert found(flow_of(start(), asking, api("write"), end()), CODE) == [AT]


@pytest.mark.parametrize(
    "asking",
    [
        gate("ask", output=port("said")),
        gate("ask", output=port("said"), inputMessageSchema=YES),
        gate("ask", output=port("said"), renderer="@a/b:context-selector", inputMessageSchema=SITE),
    ],
    ids=["an approval", "a schema of a yes", "a selection"],
)
def test_a_gate_whose_yes_is_enough_is_none(asking: Any):
    assert found(flow_of(start(), asking, api("write"), end()), CODE) == []


def test_an_answer_that_is_read_is_none():
    flow = flow_of(start(), QUESTION, end(port("said")), edges=[("ask", "said", "end", "said")])
    assert found(flow, CODE) == []


def test_an_answer_that_an_agent_hears_in_the_conversation_is_none():
    agent = {
        "component_type": "Agent", "id": "helper", "name": "Helper", "system_prompt": "Help.", "tools": [],
        "llm_config": {"component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5"},
    }  # fmt: skip
    after = flow_of(start(), QUESTION, node("AgentNode", "work", agent=agent), end())
    before = flow_of(start(), node("AgentNode", "work", agent=agent), QUESTION, end())
    assert found(after, CODE) == []
    assert found(before, CODE) == [AT]

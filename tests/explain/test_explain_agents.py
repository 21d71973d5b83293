"""An agent explained: what each node of it does, what its model is told, and which calls ask a person."""

from __future__ import annotations

from typing import Any

from oas_compiler.explain import explain
from tests.agents.agent_flows import SEARCH, SEND, TEXT, agent, agent_flow

EXPLAINED = explain(agent_flow(agent(SEARCH, SEND, outputs=TEXT), TEXT))


def records() -> dict[str, Any]:
    listed: Any = EXPLAINED.to_json()["nodes"]
    return {record["path"]: record for record in listed}


def test_nodes_of_an_agent_say_what_they_do() -> None:
    roles = {node.path: node.role for node in EXPLAINED.nodes if node.role}
    assert roles == {"work/model": "asks the model", "work/calls": "next call"}


def test_the_prompt_stands_at_the_node_that_asks_with_it() -> None:
    assert records()["work/model"]["prompt"] == "Help with {{ topic }}."
    assert "prompt" not in records()["work/search"]


def test_a_call_that_a_person_confirms_says_so() -> None:
    assert records()["work/send"]["confirmed"] is True
    assert "confirmed" not in records()["work/search"]

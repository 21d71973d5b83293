"""A step of the approval policy as JSON, with Cinatra's keys in Cinatra's order."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cinatra_sdk.contract import FALLBACK_RENDERER
from oas_compiler import ir
from oas_compiler.control.approval import AskedField, DerivedStep


def step(**more: Any) -> DerivedStep:
    fields: dict[str, Any] = {
        "number": 1, "node_id": "n", "name": "N", "risk_class": "write", "requires_approval": True,
    }  # fmt: skip
    return DerivedStep(**fields | more)


BASE = {
    "stepNumber": 1, "nodeId": "n", "name": "N", "riskClass": "write", "requiresApproval": True,
    "hitlOwnedBy": "self",
}  # fmt: skip


def test_a_step_says_no_more_than_it_has() -> None:
    assert step().to_json() == BASE
    assert list(step().to_json()) == list(BASE)


def test_the_setup_step_asks_no_model() -> None:
    assert step(number=0).to_json() == {**BASE, "stepNumber": 0, "skipLlm": True}


def test_a_step_of_a_flow_node_names_its_agent_and_how_many_gates_it_stands_for() -> None:
    made = step(
        requires_approval=False, hitl_owned_by="childAgent", renderer="@x/y:z", gate_count=3,
        child_package="@a/b",
    )  # fmt: skip
    assert made.to_json() == {
        **BASE, "requiresApproval": False, "hitlOwnedBy": "childAgent", "xRenderer": "@x/y:z",
        "gateCount": 3, "childAgent": {"packageName": "@a/b"},
    }  # fmt: skip


def gate(**more: Any) -> ir.InputMessageNode:
    return ir.InputMessageNode(id="ask", name="Ask", **more)


def test_a_gate_without_a_screen_or_a_schema_has_those_of_the_host() -> None:
    entry = step(asked=AskedField.of(gate(outputs=(ir.Port(title="answer"),)))).to_json()
    assert entry == {
        **BASE, "nodeType": "input_message", "skipLlm": True, "field": "answer",
        "schema": {"type": "object"}, "xRenderer": FALLBACK_RENDERER,
    }  # fmt: skip


def test_a_gate_shows_its_own_screen_and_schema_and_its_id_where_it_has_no_output() -> None:
    asked = AskedField.of(gate(answer_schema=ir.Json.of({"type": "string"})))
    entry = step(asked=asked, renderer="@x/y:z").to_json()
    assert entry["field"] == "ask"
    assert entry["schema"] == {"type": "string"}
    assert list(entry) == [*BASE, "xRenderer", "nodeType", "skipLlm", "field", "schema"]


def test_two_calls_share_nothing_and_the_step_cannot_be_changed() -> None:
    made = step(asked=AskedField.of(gate()))
    first: Any = made.to_json()
    first["schema"]["type"] = "string"
    assert made.to_json()["schema"] == {"type": "object"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "other"  # type: ignore[misc]

from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import only, script, told

CODE = "OAS194"
IMPORT = "from langgraph.types import interrupt\n"


def gate(body):
    return IMPORT + "def gate(state):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def test_a_token_in_the_values_is_an_error_where_it_stands(tmp_path):
    good = gate('return interrupt({"values": {"campaignId": state["campaignId"]}})')
    assert told(script(tmp_path, good), CODE) == []
    package = script(tmp_path, gate('return interrupt({"values": {"bearer_token": ""}})'))
    assert told(package, CODE) == [("scripts/work.py", 3, 34)]
    assert only(package, CODE).severity == "error"


@pytest.mark.parametrize(
    "body",
    [
        'interrupt({"t": state["bearer_token"]})',
        'interrupt({"t": state.get("bearer_token")})',
        "interrupt(dict(bearer_token=1))",
        'interrupt({"t": bearer_token})',
        'interrupt({"t": state.a2a_bearer_token})',
        'payload = {"values": {"bearer_token": 1}}\ninterrupt(payload)',
        'payload: dict = {"bearer_token": 1}\ninterrupt(payload)',
        'payload = {}\npayload["bearer_token"] = 1\ninterrupt(value=payload)',
        'values = {"bearer_token": 1}\ninterrupt({"values": values})',
    ],
)
def test_every_way_in_is_seen(tmp_path, body):
    assert len(told(script(tmp_path, gate(body)), CODE)) == 1


@pytest.mark.parametrize(
    "body",
    [
        'token = state["bearer_token"]\ninterrupt({"campaign": 1})',
        'interrupt({k: v for k, v in state.items() if k != "bearer_token"})',
        'interrupt({"note": "a bearer_token is never shown"})',
        'call({"bearer_token": 1})\ninterrupt({"a": 1})',
    ],
)
def test_a_token_that_is_used_elsewhere_or_taken_out_is_fine(tmp_path, body):
    assert told(script(tmp_path, gate(body)), CODE) == []


def test_a_payload_of_another_function_is_another(tmp_path):
    other = 'def call(state):\n    payload = {"bearer_token": 1}\n    return post(payload)\n'
    text = gate('payload = {"a": 1}\ninterrupt(payload)') + other
    assert told(script(tmp_path, text), CODE) == []


def test_a_payload_that_is_shown_twice_is_told_once(tmp_path):
    text = gate('payload = {"bearer_token": 1}\ninterrupt(payload)\ninterrupt(payload)')
    assert len(told(script(tmp_path, text), CODE)) == 1


SDK = "from cinatra_sdk import build_hitl_gate\n"


@pytest.mark.parametrize(
    "values",
    [
        '("draft", "bearer_token")',
        '["approval_policy"]',
        'lambda state: {"rejected_at": state["rejected_at"]}',
        'lambda state: {"a": state.get("a2a_bearer_token")}',
        "shown",
    ],
)
def test_a_governed_key_among_the_values_of_a_gate_is_an_error(tmp_path, values):
    text = (
        SDK + 'def shown(state):\n    return {"p": state["approval_policy"]}\n'
        f"gate = build_hitl_gate(step_number=1, values={values})\n"
    )
    assert len(told(script(tmp_path, text), CODE)) == 1


@pytest.mark.parametrize(
    "values", ['("draft",)', 'lambda state: {"draft": state["draft"]}', "shown"]
)
def test_other_values_of_a_gate_are_fine(tmp_path, values):
    text = (
        SDK + 'def shown(state):\n    return {"draft": state["draft"]}\n'
        f"gate = build_hitl_gate(step_number=1, values={values})\n"
        'policy = {"approval_policy": None}\n'
    )
    assert told(script(tmp_path, text), CODE) == []

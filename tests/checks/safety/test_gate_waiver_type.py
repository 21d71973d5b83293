from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, start

CODE = "OAS216"


def talking(step):
    inner = flow_of(start(), gate("ask"), end(), id_="inner")
    talk = flow_node("talk", inner, gateSteps=[step])
    return flow_of(start(), talk, api("send", risk="email_send"), end())


@pytest.mark.parametrize(
    ("flag", "what", "hint"),
    [
        ("false", "a string", "write false without quotes"),
        ("No", "a string", "write false without quotes"),
        ("true", "a string", "write true without quotes"),
        ("maybe", "a string", "write true or false"),
        (0, "a number", "write false without quotes"),
        ([], "a list", "write true or false"),
        ({}, "an object", "write true or false"),
    ],
)
def test_what_is_no_boolean_is_an_error_and_waives_nothing(flag, what, hint):
    flow = talking({"requiresApproval": flag})
    (finding,) = findings(flow, CODE)
    assert finding.pointer == (
        "/$referenced_components/talk/metadata/cinatra/gateSteps/0/requiresApproval"
    )
    assert finding.severity == "error"
    assert f"must be a boolean, true or false, not {what}:" in finding.message
    assert finding.hint == hint
    assert found(flow, "OAS200") == []


@pytest.mark.parametrize(("flag", "sends"), [(False, 1), (True, 0), (None, 0)])
def test_a_boolean_and_none_at_all_are_no_finding(flag, sends):
    flow = talking({"requiresApproval": flag})
    assert found(flow, CODE) == []
    assert len(found(flow, "OAS200")) == sends


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, [[]], [7]])
def test_odd_steps_are_other_rules(odd):
    flow = talking({})
    flow["$referenced_components"]["talk"]["metadata"]["cinatra"]["gateSteps"] = odd
    assert found(flow, CODE) == []

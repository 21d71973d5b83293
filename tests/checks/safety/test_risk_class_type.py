from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, start

CODE = "OAS214"
AT = "/$referenced_components/call/metadata/cinatra/riskClass"


def calling(risk):
    return flow_of(start(), gate("ask"), api("call", risk=risk), end())


@pytest.mark.parametrize(
    ("risk", "what"),
    [
        (["email_send"], "a list"),
        ({}, "an object"),
        (True, "true"),
        (7, "a number"),
        ([[]], "a list"),
    ],
)
def test_a_class_that_is_no_string_is_an_error(risk, what):
    (finding,) = findings(calling(risk), CODE)
    assert (finding.pointer, finding.severity) == (AT, "error")
    assert finding.message == f'the riskClass of the ApiNode "call" must be a string, not {what}'
    assert finding.hint == 'write it as one word: "riskClass": "email_send"'


@pytest.mark.parametrize("risk", ["email_send", "", "anything", None])
def test_a_string_and_none_at_all_are_no_finding(risk):
    assert found(calling(risk), CODE) == []


def test_the_hint_takes_the_only_word_of_a_list():
    (finding,) = findings(calling(["blog_publish"]), CODE)
    assert finding.hint.endswith('"blog_publish"')


def test_the_entries_of_gate_steps_are_looked_at():
    def talking(risk):
        inner = flow_of(start(), gate("ask"), end(), id_="inner")
        steps = [{"riskClass": "read_only"}, 7, {"riskClass": risk}]
        return flow_of(start(), flow_node("talk", inner, gateSteps=steps), end())

    assert found(talking(["read_only"]), CODE) == [
        "/$referenced_components/talk/metadata/cinatra/gateSteps/2/riskClass"
    ]
    assert found(talking("read_only"), CODE) == []

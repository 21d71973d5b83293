from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, branching, end, flow_node, flow_of, gate, port, start

CODE = "OAS231"
LOOK, SIGN, SEND = gate("look"), gate("sign", riskClass="approval"), api("send", risk="email_send")
AT = "/$referenced_components/sign"


def test_an_approval_after_the_send_guards_nothing():
    (finding,) = findings(flow_of(start(), LOOK, SEND, SIGN, end()), CODE)
    assert (finding.pointer, finding.severity) == (AT, "warning")
    assert finding.message == (
        'the gate "sign" (approval) guards nothing: "send", which sends, runs before it'
    )
    assert finding.hint == 'lead every path to "send" through "sign" before it'


@pytest.mark.parametrize("risk", ["approval", "email_send", "send_external_message"])
def test_every_class_that_approves_counts(risk):
    sign = gate("sign", riskClass=risk)
    assert found(flow_of(start(), LOOK, SEND, sign, end()), CODE) == [AT]


def ways(inner):
    check = branching("check", port("verdict", default="x"), {"yes": "yes"})
    routes = [
        ("start", None, "look"), ("look", None, "check"), ("check", "yes", inner),
        ("check", "default", "send"), ("sign", None, "end" if inner == "sign" else "send"),
        ("send", None, "end"),
    ]  # fmt: skip
    if inner == "send":
        routes = [r for r in routes if r[0] != "check"]
        routes += [("check", "yes", "sign"), ("check", "default", "sign")]
    return flow_of(start(), LOOK, check, SIGN, SEND, end(), routes=routes)


def test_an_approval_on_another_way_than_the_send_guards_nothing():
    (finding,) = findings(ways("sign"), CODE)
    assert finding.message.endswith('"send", which sends, is on another way')
    assert found(ways("send"), CODE) == []


def test_a_gate_inside_a_subflow_is_compared_with_sends_outside():
    inner = flow_of(start(), SIGN, end(), id_="inner")
    late = flow_of(start(), LOOK, SEND, flow_node("mail", inner), end())
    early = flow_of(start(), LOOK, flow_node("mail", inner), SEND, end())
    assert len(findings(late, CODE)) == 1
    assert found(early, CODE) == []


def test_an_approval_in_a_loop_comes_before_the_next_send():
    check = branching("check", port("verdict", default="x"), {"again": "again"})
    routes = [
        ("start", None, "look"), ("look", None, "send"), ("send", None, "sign"),
        ("sign", None, "check"), ("check", "again", "send"), ("check", "default", "end"),
    ]  # fmt: skip
    assert found(flow_of(start(), LOOK, SEND, SIGN, check, end(), routes=routes), CODE) == []


def test_harmless_flows_are_silent():
    write = api("keep", risk="write")
    assert found(flow_of(start(), SIGN, SEND, end()), CODE) == []
    assert found(flow_of(start(), SIGN, write, end()), CODE) == []  # nothing sends
    assert found(flow_of(start(), SEND, gate("look"), end()), CODE) == []  # a plain look back
    # the first one approves the send, the second one a write
    first = gate("first", riskClass="approval")
    assert found(flow_of(start(), first, SEND, SIGN, write, end()), CODE) == []


def test_a_send_without_any_gate_before_it_is_told_once():
    made = flow_of(start(), SEND, SIGN, end())
    assert found(made, CODE) == []
    assert len(findings(made, "OAS200")) == 1

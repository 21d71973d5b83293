from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.safety.test_endless_loop import looping
from tests.flows import api, end, flow_node, flow_of, gate, start

CODE = "OAS203"


def test_a_gate_in_a_loop_says_how_often_it_may_ask():
    bad = looping(gate("ask"), api("call"), back_to="ask")
    good = looping(gate("ask", maxGateVisits=25), api("call"), back_to="ask")
    (finding,) = findings(bad, CODE)
    assert (finding.pointer, finding.severity) == ("/$referenced_components/ask", "warning")
    assert "maxGateVisits" in finding.hint
    assert found(good, CODE) == []


def test_a_gate_outside_the_loop_needs_no_limit():
    flow = looping(gate("before"), gate("ask", maxGateVisits=5), back_to="ask")
    assert found(flow, CODE) == []


def test_one_gate_with_a_limit_bounds_the_others_of_its_loop():
    flow = looping(gate("ask", maxGateVisits=5), gate("again"), back_to="ask")
    assert found(flow, CODE) == []


def test_a_gate_inside_a_subflow_that_a_loop_runs_is_named():
    inner = flow_of(start(), gate("ask"), end(), id_="inner")
    bounded = flow_of(start(), gate("ask", maxGateVisits=5), end(), id_="inner")
    assert found(looping(flow_node("talk", inner), back_to="talk"), CODE) == [
        "/$referenced_components/inner/$referenced_components/ask"
    ]
    assert found(looping(flow_node("talk", bounded), back_to="talk"), CODE) == []


def test_a_loop_without_any_gate_is_another_rules():
    assert found(looping(api("call"), back_to="call"), CODE) == []


def test_a_misspelt_limit_is_one_finding_of_another_rule():
    flow = looping(gate("ask", maxGateVisit=25), api("call"), back_to="ask")
    assert found(flow, CODE) == []
    assert len(found(flow, "OAS133")) == 1

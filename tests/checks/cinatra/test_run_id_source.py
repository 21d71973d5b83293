from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, around, mail_agent, parts
from tests.checks.rule_case import findings, found

EDGE = "/data_flow_connections/1"


def fed_by(node, output):
    flow = mail_agent()
    edge = flow["data_flow_connections"][1]
    assert edge["destination_input"] == "agent_run_id"
    edge["source_node"], edge["source_output"] = {"$component_ref": node}, output
    return flow


def test_the_run_id_comes_from_the_start_node():
    assert found(fed_by("start", "cinatra_run_id"), "OAS120") == []
    (finding,) = findings(fed_by("review", "userResponse"), "OAS120")
    assert finding.pointer == EDGE
    assert finding.message == 'agent_run_id of "write" comes from "review", not from the StartNode'


def test_another_input_is_not_the_run_id():
    (finding,) = findings(fed_by("start", "topic"), "OAS120")
    assert finding.message == (
        'agent_run_id of "write" comes from "topic", which is not the id of the run'
    )


def test_a_flow_may_call_it_agent_run_id_throughout():
    flow = fed_by("start", "agent_run_id")
    start = parts(flow)["start"]
    for ports in (start["inputs"], flow["inputs"]):
        ports[1] = {**ports[1], "title": "agent_run_id"}
    start["metadata"]["cinatra"]["hidden"] = ["agent_run_id"]
    assert found(flow, "OAS120") == []


def test_the_flow_lists_it_as_well_as_its_start_node():
    flow = mail_agent()
    flow["inputs"] = flow["inputs"][:1]
    (finding,) = findings(flow, "OAS120")
    assert finding.pointer == EDGE
    assert "the flow does not list" in finding.message
    del flow["inputs"]
    assert found(flow, "OAS120") == []


@pytest.mark.parametrize("fed", [True, False])
def test_a_missing_edge_is_reported_once(fed):
    flow = mail_agent()
    if not fed:
        del flow["data_flow_connections"][1]
    assert len(found(flow, "OAS063")) == (0 if fed else 1)
    assert found(flow, "OAS120") == []


def test_a_node_that_does_not_use_it_may_have_any_source():
    flow = fed_by("start", "topic")
    parts(flow)["write"]["data"]["agent_run_id"] = "fixed"
    assert found(flow, "OAS120") == []


def test_in_a_subflow_it_comes_from_the_subflow_s_own_start():
    assert found(around(mail_agent()), "OAS120") == []
    assert found(around(fed_by("start", "topic")), "OAS120") == [INNER + EDGE]


@pytest.mark.parametrize("key", ["nodes", "start_node"])
def test_a_start_that_cannot_be_read_is_not_called_another_node(key):
    flow = mail_agent()
    names = flow["nodes"][0] if key == "nodes" else flow["start_node"]
    names["$component_ref"] = "strat"
    assert len(found(flow, "OAS010")) == 1
    assert found(flow, "OAS120") == []


def test_nor_is_one_of_a_misspelt_type_or_with_an_input_without_a_title():
    for change in ({"component_type": "Start"}, {"inputs": [{"type": "string"}]}):
        flow = mail_agent()
        parts(flow)["start"].update(change)
        assert found(flow, "OAS120") == []

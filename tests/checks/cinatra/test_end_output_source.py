from __future__ import annotations

from tests.checks.cinatra.cinatra_case import INNER, PARTS, around, mail_agent, parts
from tests.checks.rule_case import findings, found
from tests.flows import end, port


def ending_with(*outputs):
    flow = mail_agent()
    parts(flow)["end"] = end(port("draft"), *outputs)
    return flow


def test_a_default_alone_is_no_source():
    (finding,) = findings(ending_with(port("note", default="")), "OAS121")
    assert finding.pointer == f"{PARTS}/end/outputs/1"
    assert finding.message == (
        'the output "note" of "end" has neither a data edge nor an input of the same name'
    )


def test_a_data_edge_is_one():
    flow = ending_with(port("note", default=""))
    flow["data_flow_connections"].append(
        {
            "component_type": "DataFlowEdge",
            "name": "note",
            "source_node": {"$component_ref": "review"},
            "source_output": "userResponse",
            "destination_node": {"$component_ref": "end"},
            "destination_input": "note",
        }
    )
    assert found(flow, "OAS121") == []


def test_an_input_of_the_same_name_is_one_if_the_flow_lists_it_too():
    flow = ending_with(port("topic", default=""))
    assert found(flow, "OAS121") == []
    flow["inputs"] = flow["inputs"][1:]
    assert found(flow, "OAS121") == [f"{PARTS}/end/outputs/1"]
    del flow["inputs"]
    assert found(flow, "OAS121") == []


def test_the_flow_s_default_is_no_source_either():
    flow = ending_with(port("note"))
    flow["outputs"] = [port("draft"), port("note", default="")]
    assert found(flow, "OAS063") == []
    assert found(flow, "OAS121") == [f"{PARTS}/end/outputs/1"]


def test_without_any_default_it_is_reported_once():
    flow = ending_with(port("note"))
    assert found(flow, "OAS063") == [f"{PARTS}/end/outputs/1"]
    assert found(flow, "OAS121") == []


def test_subflows_are_looked_at_too():
    flow = around(ending_with(port("note", default="")))
    assert found(flow, "OAS121") == [f"{INNER}{PARTS}/end/outputs/1"]
    assert found(around(mail_agent()), "OAS121") == []


def test_an_edge_to_a_node_that_is_not_listed_is_not_this_rule_s_matter():
    flow = mail_agent()
    flow["nodes"] = [ref for ref in flow["nodes"] if ref["$component_ref"] != "end"]
    assert found(flow, "OAS121") == []


def test_an_edge_that_cannot_be_read_is_reported_once():
    flow = ending_with(port("note", default=""))
    flow["data_flow_connections"].append(
        {
            "component_type": "DataFlowEdge",
            "name": "note",
            "source_node": {"$component_ref": "reviw"},
            "source_output": "userResponse",
            "destination_node": {"$component_ref": "end"},
            "destination_input": "note",
        }
    )
    assert len(found(flow, "OAS010")) == 1
    assert found(flow, "OAS121") == []

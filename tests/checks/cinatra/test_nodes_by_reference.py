from __future__ import annotations

from tests.checks.cinatra.cinatra_case import around, mail_agent, parts
from tests.checks.rule_case import findings, found


def test_a_node_that_is_written_out_in_the_list_is_refused():
    flow = mail_agent()
    assert found(flow, "OAS104") == []
    flow["nodes"][2] = parts(flow).pop("review")
    (finding,) = findings(flow, "OAS104")
    assert finding.pointer == "/nodes/2"
    assert finding.message == (
        'entry 2 of the nodes of the Flow "mail" must be a $component_ref to an entry of '
        "$referenced_components"
    )


def test_a_start_node_that_is_written_out_is_refused():
    flow = mail_agent()
    flow["start_node"] = parts(flow)["start"]
    assert found(flow, "OAS104") == ["/start_node"]


def test_a_subflow_may_write_its_nodes_out():
    inner = mail_agent()
    inner["nodes"][2] = parts(inner)["review"]
    assert found(around(inner), "OAS104") == []


def test_what_is_no_object_is_reported_once():
    flow = mail_agent()
    flow["nodes"].append("review")
    assert found(flow, "OAS022") == ["/nodes/4"]
    assert found(flow, "OAS104") == []


def test_what_is_no_component_is_told_once():
    flow = mail_agent()
    flow["nodes"][1] = {"component_ref": "write"}
    assert found(flow, "OAS014") == ["/nodes/1"]
    assert found(flow, "OAS104") == []
    flow["nodes"][1] = parts(flow).pop("write")
    assert found(flow, "OAS104") == ["/nodes/1"]

from __future__ import annotations

from tests.checks.cinatra.cinatra_case import PARTS, around, mail_agent
from tests.checks.rule_case import findings, found
from tests.flows import end, plain, port


def two_ends():
    return mail_agent(end(port("draft", default=""), id_="stopped"))


def test_the_root_flow_of_a_cinatra_file_has_one_end():
    (finding,) = findings(two_ends(), "OAS111")
    assert finding.pointer == f"{PARTS}/end"
    assert finding.message == '"end" is one of 2 EndNodes of the root flow, the host takes one'
    assert finding.hint == 'lead its control edges to "stopped" and remove it'
    assert found(mail_agent(), "OAS111") == []


def test_a_node_that_is_listed_twice_is_one_end():
    flow = mail_agent()
    flow["nodes"].append({"$component_ref": "end"})
    assert found(flow, "OAS111") == []


def test_an_end_that_is_not_in_the_list_of_nodes_does_not_count():
    flow = two_ends()
    flow["nodes"] = [ref for ref in flow["nodes"] if ref["$component_ref"] != "stopped"]
    assert found(flow, "OAS111") == []


def test_an_end_that_is_written_out_counts():
    flow = mail_agent()
    flow["nodes"].append(end(id_="stopped"))
    assert found(flow, "OAS111") == ["/nodes/4"]


def test_a_subflow_and_a_plain_flow_may_have_several():
    assert found(around(two_ends()), "OAS111") == []
    assert found(plain(two_ends()), "OAS111") == []

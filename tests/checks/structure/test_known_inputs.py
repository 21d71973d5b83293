from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import data, draft_flow


def test_an_edge_ends_at_an_input_of_its_node():
    flow = draft_flow()
    flow["data_flow_connections"][0] = data("start", "topic", "write", "topc")
    assert found(flow, "OAS062") == ["/data_flow_connections/0/destination_input"]
    assert findings(flow, "OAS062")[0].hint == 'did you mean "topic"?'
    assert found(draft_flow(), "OAS062") == []


def test_where_no_input_is_near_the_hint_names_those_that_are_there():
    flow = draft_flow()
    flow["data_flow_connections"][0] = data("start", "topic", "write", "audience")
    (finding,) = findings(flow, "OAS062")
    assert finding.hint == 'declare it at the node, or name an input that is there: "topic"'

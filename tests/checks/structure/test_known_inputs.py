from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import data, draft_flow


def test_an_edge_ends_at_an_input_of_its_node():
    flow = draft_flow()
    flow["data_flow_connections"][0] = data("start", "topic", "write", "topc")
    assert found(flow, "OAS062") == ["/data_flow_connections/0/destination_input"]
    assert findings(flow, "OAS062")[0].hint == 'did you mean "topic"?'
    assert found(draft_flow(), "OAS062") == []

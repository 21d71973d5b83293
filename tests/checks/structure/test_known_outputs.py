from __future__ import annotations

from oas_compiler import check
from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import data, draft_flow


def test_an_edge_starts_at_an_output_of_its_node():
    flow = draft_flow()
    flow["data_flow_connections"][1] = data("write", "drafd", "end", "draft")
    assert found(flow, "OAS061") == ["/data_flow_connections/1/source_output"]
    assert findings(flow, "OAS061")[0].hint == 'did you mean "draft"?'
    assert found(draft_flow(), "OAS061") == []


def test_an_input_of_a_node_is_no_output_of_it():
    flow = draft_flow()
    flow["data_flow_connections"].append(data("write", "topic", "end", "draft"))
    assert found(flow, "OAS061") == ["/data_flow_connections/2/source_output"]


def test_where_no_output_is_near_the_hint_names_those_that_are_there():
    flow = draft_flow()
    flow["data_flow_connections"][1] = data("write", "messageId", "end", "draft")
    (finding,) = findings(flow, "OAS061")
    assert finding.hint == 'declare it at the node, or name an output that is there: "draft"'
    flow["$referenced_components"]["write"]["outputs"] = []
    (finding,) = findings(flow, "OAS061")
    assert finding.hint == "declare the output at the node, which has none"


def test_an_input_that_the_start_node_lacks_is_one_finding():
    flow = draft_flow()
    start = flow["$referenced_components"]["start"]
    start["metadata"] = {"cinatra": {"required": ["topic"], "inputTitles": {"topic": "Topic"}}}
    start["inputs"] = []
    assert flow["inputs"]
    assert [found.code for found in check(flow) if found.severity == "error"] == ["OAS068"]
    assert found(flow, "OAS034") == []

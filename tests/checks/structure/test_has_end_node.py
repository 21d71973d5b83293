from __future__ import annotations

from oas_compiler import check
from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import BLOCK, draft_flow, without


def test_a_flow_without_an_end_node_is_refused_at_its_nodes():
    made = without(draft_flow(), "end")
    del made["control_flow_connections"][-1], made["data_flow_connections"][-1]
    assert found(made, "OAS041") == ["/nodes"]
    assert found(draft_flow(), "OAS041") == []


def test_then_no_last_node_is_blamed_for_leading_nowhere():
    made = without(draft_flow(), "end")
    del made["control_flow_connections"][-1], made["data_flow_connections"][-1]
    assert {each.code for each in check(made) if each.severity == "error"} == {"OAS041"}
    ended = draft_flow()
    del ended["control_flow_connections"][0]
    assert found(ended, "OAS045") == [f"{BLOCK}/start"]


def test_a_node_that_edges_name_and_nodes_does_not_list_may_be_the_end_node():
    made = without(draft_flow(), "end")
    assert found(made, "OAS041") == []
    assert found(made, "OAS042") == ["/control_flow_connections/1/to_node"]


def test_a_node_of_a_misspelt_type_may_be_the_end_node():
    made = draft_flow()
    made["$referenced_components"]["end"]["component_type"] = "EnNode"
    assert [each.code for each in check(made) if each.severity == "error"] == ["OAS026"]


def test_an_entry_that_cannot_be_read_may_be_the_end_node():
    flow = draft_flow(nodes=[{"$component_ref": name} for name in ("start", "write", "edn")])
    assert found(flow, "OAS041") == []
    assert found(flow, "OAS010") == ["/nodes/2/$component_ref"]

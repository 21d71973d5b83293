from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, choosing, draft_flow


def test_a_branch_without_an_edge_is_refused_at_its_node():
    flow = choosing(Yes="end", No="end")
    assert found(flow, "OAS045") == [f"{BLOCK}/choose"]
    (finding,) = findings(flow, "OAS045")
    assert '"default"' in finding.message
    assert finding.hint == 'add a control edge from this node with from_branch "default"'
    assert found(choosing(Yes="end", No="end", default="end"), "OAS045") == []


def test_a_node_without_any_edge_is_refused():
    flow = draft_flow()
    del flow["control_flow_connections"][1]
    assert found(flow, "OAS045") == [f"{BLOCK}/write"]


def test_the_branch_that_a_misspelt_edge_means_is_not_reported_too():
    for written in ("yes", "Yse"):
        assert found(choosing(**{written: "end", "No": "end", "default": "end"}), "OAS045") == []


def test_an_edge_by_a_branch_of_another_name_hides_nothing():
    flow = choosing(elsewhere="end", No="end", default="end")
    assert found(flow, "OAS045") == [f"{BLOCK}/choose"]

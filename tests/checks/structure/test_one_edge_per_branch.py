from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import choosing, control, draft_flow


def test_the_second_edge_of_a_branch_is_refused():
    flow = draft_flow()
    flow["control_flow_connections"].append(control("start", "end", "next"))
    assert found(flow, "OAS044") == ["/control_flow_connections/2"]
    assert found(draft_flow(), "OAS044") == []


def test_two_branches_may_lead_to_one_node():
    assert found(choosing(Yes="end", No="end", default="end"), "OAS044") == []

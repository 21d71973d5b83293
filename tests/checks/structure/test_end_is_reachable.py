from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import BLOCK, choosing, control, draft_flow


def test_a_loop_without_a_way_out_is_refused_at_each_node():
    flow = draft_flow()
    flow["control_flow_connections"][1] = control("write", "write")
    assert found(flow, "OAS049") == [f"{BLOCK}/start", f"{BLOCK}/write"]
    assert found(draft_flow(), "OAS049") == []


def test_a_loop_that_one_branch_leaves_is_fine():
    assert found(choosing(Yes="choose", No="choose", default="end"), "OAS049") == []
    assert found(choosing(Yes="choose", No="choose", default="choose"), "OAS049") == [
        f"{BLOCK}/start",
        f"{BLOCK}/choose",
    ]


def test_a_node_that_runs_into_a_loose_branch_is_not_reported_twice():
    flow = choosing(Yes="choose", No="choose")
    assert found(flow, "OAS049") == []
    assert found(flow, "OAS045") == [f"{BLOCK}/choose"]

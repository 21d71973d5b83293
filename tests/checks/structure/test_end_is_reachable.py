from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, choosing, control, draft_flow


def test_a_loop_without_a_way_out_is_refused_once_with_the_names_of_its_nodes():
    flow = draft_flow()
    flow["control_flow_connections"][1] = control("write", "write")
    (finding,) = findings(flow, "OAS049")
    assert finding.pointer == f"{BLOCK}/write"
    assert 'from "write": a run would go on for ever' in finding.message
    assert found(draft_flow(), "OAS049") == []


def test_a_loop_that_one_branch_leaves_is_fine():
    assert found(choosing(Yes="choose", No="choose", default="end"), "OAS049") == []
    assert found(choosing(Yes="choose", No="choose", default="choose"), "OAS049") == [
        f"{BLOCK}/choose"
    ]


def test_a_node_that_runs_into_a_loose_branch_is_not_reported_twice():
    flow = choosing(Yes="choose", No="choose")
    assert found(flow, "OAS049") == []
    assert found(flow, "OAS045") == [f"{BLOCK}/choose"]

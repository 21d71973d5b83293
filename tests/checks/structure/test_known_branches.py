from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import choosing, control, draft_flow


def test_an_edge_leaves_by_a_branch_that_the_node_has():
    assert found(choosing(yes="end", No="end", default="end"), "OAS043") == [
        "/control_flow_connections/1/from_branch"
    ]
    assert found(choosing(Yes="end", No="end", default="end"), "OAS043") == []


def test_the_hint_names_the_branch_that_differs_in_case_only():
    (finding,) = findings(choosing(yes="end", No="end", default="end"), "OAS043")
    assert finding.hint == 'did you mean "Yes"?'
    assert '"Yes", "No", "default"' in finding.message


def test_an_edge_without_a_branch_does_not_leave_a_branching_node():
    flow = choosing(Yes="end", No="end", default="end")
    flow["control_flow_connections"].append(control("choose", "end"))
    assert found(flow, "OAS043") == ["/control_flow_connections/4"]


def test_null_is_the_branch_next():
    flow = draft_flow()
    flow["control_flow_connections"][0]["from_branch"] = None
    assert found(flow, "OAS043") == []
    flow["control_flow_connections"][0]["from_branch"] = ""
    assert found(flow, "OAS043") == ["/control_flow_connections/0/from_branch"]


def test_an_edge_without_a_branch_is_told_which_one_to_name():
    made = choosing(Yes="end", No="end", default="end")
    assert found(made, "OAS043") == []
    del made["control_flow_connections"][2]["from_branch"]
    (finding,) = findings(made, "OAS043")
    assert finding.hint == 'add "from_branch": "No"'
    assert found(made, "OAS045") == []
    del made["control_flow_connections"][1]["from_branch"]
    assert {each.hint for each in findings(made, "OAS043")} == {
        "add from_branch with the branch that this edge leaves by"
    }

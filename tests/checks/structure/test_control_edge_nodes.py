from __future__ import annotations

from oas_compiler import check
from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import add, control, draft_flow, without
from tests.flows import message


def flow() -> dict[str, object]:
    made = add(draft_flow(), message("polish", "done"), control("polish", "end"))
    made["control_flow_connections"][1] = control("write", "polish")
    return made


def test_a_node_that_is_not_listed_is_one_finding_at_the_first_edge_that_names_it():
    (finding,) = findings(without(flow(), "polish"), "OAS042")
    assert finding.pointer == "/control_flow_connections/1/to_node"
    assert finding.message == (
        '"polish" is defined but not listed in the nodes of the flow "test-flow"'
    )
    assert finding.hint == "add it to nodes"
    assert found(flow(), "OAS042") == []


def test_nothing_else_is_said_about_it():
    made = flow()
    for name in ("write", "polish", "end"):
        codes = [each.code for each in check(without(made, name)) if each.severity == "error"]
        assert codes == ["OAS042"]
    assert found(made, "OAS042") == []


def test_two_nodes_that_are_not_listed_are_two_findings():
    made = without(without(flow(), "polish"), "write")
    assert found(made, "OAS042") == [
        "/control_flow_connections/0/to_node",
        "/control_flow_connections/1/to_node",
    ]

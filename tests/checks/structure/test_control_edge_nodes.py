from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import add, control, draft_flow, without
from tests.flows import message


def flow() -> dict[str, object]:
    made = add(draft_flow(), message("polish", "done"), control("polish", "end"))
    made["control_flow_connections"][1] = control("write", "polish")
    return made


def test_both_ends_of_an_edge_are_nodes_of_the_flow():
    assert found(without(flow(), "polish"), "OAS042") == [
        "/control_flow_connections/1/to_node",
        "/control_flow_connections/2/from_node",
    ]
    assert found(flow(), "OAS042") == []


def test_the_hint_is_the_nearest_node_that_is_listed():
    made = flow()
    made["$referenced_components"]["wrote"] = message("wrote", "done")
    made["control_flow_connections"].append(control("polish", "wrote", "other"))
    (finding,) = findings(made, "OAS042")
    assert finding.hint == 'did you mean "write"?'

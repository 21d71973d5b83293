from __future__ import annotations

from oas_compiler import check
from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, add, control, draft_flow, without
from tests.flows import start


def test_a_flow_without_a_start_node_is_refused_at_its_nodes():
    made = draft_flow()
    made["$referenced_components"]["start"]["component_type"] = "OutputMessageNode"
    assert found(made, "OAS040") == ["/nodes"]
    assert found(draft_flow(), "OAS040") == []


def test_a_start_node_that_is_not_listed_is_one_finding():
    made = without(draft_flow(), "start")
    errors = [(each.code, each.hint) for each in check(made) if each.severity == "error"]
    assert errors == [("OAS050", "add it to nodes")]


def test_a_node_of_a_misspelt_type_may_be_the_start_node():
    made = draft_flow()
    made["$referenced_components"]["start"]["component_type"] = "Start"
    assert [each.code for each in check(made) if each.severity == "error"] == ["OAS026"]


def test_a_second_start_node_is_refused_where_it_is_defined():
    second = {**start(), "id": "again"}
    flow = add(draft_flow(), second, control("again", "write"))
    assert found(flow, "OAS040") == [f"{BLOCK}/again"]
    (finding,) = findings(flow, "OAS040")
    assert "2 StartNodes" in finding.message
    assert found(without(flow, "again"), "OAS040") == []


def test_an_entry_that_cannot_be_read_may_be_the_start_node():
    flow = draft_flow(nodes=[{"$component_ref": name} for name in ("strat", "write", "end")])
    assert found(flow, "OAS040") == []
    assert found(flow, "OAS010") == ["/nodes/0/$component_ref"]

from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import draft_flow, ref, without
from tests.flows import start


def test_start_node_is_a_start_node():
    assert found(draft_flow(start_node=ref("write")), "OAS050") == ["/start_node"]
    assert found(draft_flow(start_node=ref("start")), "OAS050") == []


def test_start_node_is_one_of_the_nodes():
    assert found(without(draft_flow(), "start"), "OAS050") == ["/start_node"]
    flow = draft_flow(start_node=ref("other"))
    flow["$referenced_components"]["other"] = {**start(), "id": "other"}
    assert found(flow, "OAS050") == ["/start_node"]


def test_a_reference_that_leads_nowhere_is_not_reported_twice():
    flow = draft_flow(start_node=ref("strat"))
    assert found(flow, "OAS050") == []
    assert found(flow, "OAS010") == ["/start_node/$component_ref"]

from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import choosing


def test_a_loop_leads_back_to_the_node_after_the_start():
    assert found(choosing(Yes="start", No="end", default="end"), "OAS046") == [
        "/control_flow_connections/1/to_node"
    ]
    assert found(choosing(Yes="choose", No="end", default="end"), "OAS046") == []

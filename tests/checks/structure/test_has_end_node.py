from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import draft_flow, without


def test_a_flow_without_an_end_node_is_refused_at_its_nodes():
    assert found(without(draft_flow(), "end"), "OAS041") == ["/nodes"]
    assert found(draft_flow(), "OAS041") == []


def test_an_entry_that_cannot_be_read_may_be_the_end_node():
    flow = draft_flow(nodes=[{"$component_ref": name} for name in ("start", "write", "edn")])
    assert found(flow, "OAS041") == []
    assert found(flow, "OAS010") == ["/nodes/2/$component_ref"]

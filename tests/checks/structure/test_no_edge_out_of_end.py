from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import control, draft_flow


def test_nothing_follows_an_end_node():
    flow = draft_flow()
    flow["control_flow_connections"].append(control("end", "write"))
    assert found(flow, "OAS047") == ["/control_flow_connections/2/from_node"]
    assert found(draft_flow(), "OAS047") == []

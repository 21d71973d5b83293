from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, add, choosing, control
from tests.flows import end


def test_an_end_node_that_no_edge_leads_to_is_refused():
    flow = add(choosing(Yes="end", No="end", default="end"), end(id_="stopped"))
    assert found(flow, "OAS052") == [f"{BLOCK}/stopped"]
    assert findings(flow, "OAS052")[0].severity == "error"
    flow = add(choosing(Yes="end", No="end"), end(id_="stopped"))
    flow["control_flow_connections"].append(control("choose", "stopped", "default"))
    assert found(flow, "OAS052") == []


def test_an_edge_whose_target_cannot_be_read_may_lead_to_it():
    flow = add(
        choosing(Yes="end", No="end"), end(id_="stopped"), control("choose", "stoped", "default")
    )
    assert found(flow, "OAS052") == []
    assert found(flow, "OAS010") == ["/control_flow_connections/3/to_node/$component_ref"]

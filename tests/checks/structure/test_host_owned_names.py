from __future__ import annotations

import pytest

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import BLOCK, data, draft_flow
from tests.flows import port


@pytest.mark.parametrize("name", ["bearer_token", "approval_policy", "rejected_at"])
def test_what_the_host_sets_is_no_input_of_a_flow(name: str):
    inputs = [port("topic"), port(name, default="")]
    flow = draft_flow(inputs=inputs)
    flow["$referenced_components"]["start"]["inputs"] = inputs
    assert found(flow, "OAS091") == [f"{BLOCK}/start/inputs/1"]
    inputs[1]["title"] = f"my_{name}"
    assert found(flow, "OAS091") == []


@pytest.mark.parametrize("name", ["bearer_token", "approval_policy", "rejected_at"])
def test_what_the_host_sets_is_no_target_of_a_data_edge(name: str):
    flow = draft_flow()
    flow["$referenced_components"]["write"]["inputs"].append(port(name, default=""))
    assert found(flow, "OAS091") == []
    flow["data_flow_connections"].append(data("start", "topic", "write", name))
    assert found(flow, "OAS091") == ["/data_flow_connections/2/destination_input"]

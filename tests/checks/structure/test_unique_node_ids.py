from __future__ import annotations

from typing import Any

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import BLOCK, add, control, draft_flow
from tests.flows import flow_node, message


def flow(second_id: str) -> dict[str, Any]:
    """A second node stands under the name "other", between "write" and "end"."""
    made = draft_flow()
    made["$referenced_components"]["other"] = {**message("other", "written"), "id": second_id}
    made["nodes"].append({"$component_ref": "other"})
    made["control_flow_connections"][1] = control("write", "other")
    made["control_flow_connections"].append(control("other", "end"))
    return made


def test_the_second_node_with_an_id_is_refused_at_its_id():
    assert found(flow("write"), "OAS027") == [f"{BLOCK}/other/id"]
    assert found(flow("other"), "OAS027") == []


def test_a_subflow_may_use_the_ids_of_the_flow_around_it():
    made = add(draft_flow(), flow_node("sub", {"$component_ref": "inner"}))
    made["$referenced_components"]["inner"] = draft_flow(id="inner")
    assert found(made, "OAS027") == []
    made["$referenced_components"]["inner"] = {**flow("write"), "id": "inner"}
    assert found(made, "OAS027") == [f"{BLOCK}/inner{BLOCK}/other/id"]

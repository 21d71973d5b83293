from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import draft_flow
from tests.flows import port


def test_an_output_that_no_end_node_has_is_refused():
    flow = draft_flow(outputs=[port("drafd")])
    assert found(flow, "OAS066") == ["/outputs/0"]
    assert findings(flow, "OAS066")[0].hint == 'did you mean "draft"?'
    assert found(draft_flow(outputs=[port("draft")]), "OAS066") == []


def test_an_output_with_a_default_needs_no_end_node():
    assert found(draft_flow(outputs=[port("other", default="")]), "OAS066") == []


def test_rules_apply_in_a_subflow_and_once_however_often_it_is_run():
    from tests.checks.structure.structure_samples import BLOCK, add
    from tests.flows import flow_node

    made = draft_flow()
    for name in ("first", "second"):
        add(made, flow_node(name, {"$component_ref": "inner"}))
    made["$referenced_components"]["inner"] = draft_flow(id="inner", outputs=[port("drafd")])
    assert found(made, "OAS066") == [f"{BLOCK}/inner/outputs/0"]

from __future__ import annotations

from tests.checks.rule_case import found
from tests.checks.structure.structure_samples import BLOCK, draft_flow
from tests.flows import port


def test_an_end_node_gives_values_that_the_flows_output_takes():
    assert found(draft_flow(outputs=[port("draft", "integer")]), "OAS069") == [
        f"{BLOCK}/end/outputs/0"
    ]
    assert found(draft_flow(outputs=[port("draft", ["string", "null"])]), "OAS069") == []

from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, flow_of, gate, start

CODE = "OAS233"


def test_a_gate_that_says_it_needs_no_approval_asks_all_the_same():
    (finding,) = findings(flow_of(start(), gate("ask", requiresApproval=False), end()), CODE)
    assert finding.pointer == "/$referenced_components/ask/metadata/cinatra/requiresApproval"
    assert "asks a person all the same" in finding.message
    assert finding.severity == "warning"


@pytest.mark.parametrize("value", [True, None])
def test_a_gate_that_says_so_or_nothing_is_fine(value):
    made = gate("ask", requiresApproval=value)
    if value is None:
        del made["metadata"]["cinatra"]["requiresApproval"]
    assert found(flow_of(start(), made, end()), CODE) == []


def test_an_entry_of_gate_steps_may_waive():
    inner = flow_of(start(), gate("ask"), end(), id_="inner")
    steps = [{"name": "Ask", "requiresApproval": False}]
    assert found(flow_of(start(), flow_node("run", inner, gateSteps=steps), end()), CODE) == []

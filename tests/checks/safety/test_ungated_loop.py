from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.safety.test_endless_loop import looping
from tests.flows import api, gate, plain

CODE = "OAS202"


def test_a_loop_of_a_plain_flow_without_a_gate_is_worth_a_warning():
    bad = plain(looping(gate("ask"), api("call"), back_to="call"))
    good = plain(looping(gate("ask"), api("call"), back_to="ask"))
    (finding,) = findings(bad, CODE)
    assert (finding.pointer, finding.severity) == ("/control_flow_connections/3", "warning")
    assert finding.message.startswith("the loop call → check → call goes round")
    assert found(good, CODE) == []


def test_the_loop_of_a_cinatra_flow_is_the_error_of_another_rule():
    bad = looping(api("call"), back_to="call")
    assert found(bad, CODE) == []
    assert found(bad, "OAS201")

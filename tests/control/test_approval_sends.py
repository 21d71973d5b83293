"""A FlowNode whose author marks it as a send is one, for the runtime as for the rules."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import PolicyInvalid
from oas_compiler import check, compile_flow
from oas_compiler.control.approval import derive_approval, list_acting
from tests.flows import api, end, flow_node, flow_of, gate, start


def mailing(*inside: Any, risk: str = "email_send") -> Any:
    subflow = flow_of(start(), *inside, api("go"), end(), id_="inner")
    return flow_node("mail", subflow, riskClass=risk)


def guards(*nodes: Any) -> tuple[tuple[int, str, str], ...]:
    return compile_flow(flow_of(start(), *nodes, end())).approval.guards


def test_a_gate_before_a_flow_node_that_is_a_send_guards_it() -> None:
    assert guards(gate("ask"), mailing()) == ((1, "ask", "mail"),)
    assert guards(gate("ask"), mailing(risk="write")) == ()


def test_a_gate_inside_it_comes_before_what_it_is_marked_with() -> None:
    assert guards(mailing(gate("ask"))) == ((1, "mail/ask", "mail"),)
    assert guards(mailing(gate("ask"), risk="write")) == ()


def test_a_gate_behind_it_guards_nothing() -> None:
    assert guards(mailing(), gate("ask")) == ()


def test_a_run_needs_an_entry_for_the_gate_before_it() -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), mailing(), end()))
    flow.check_policy({"steps": [{"stepNumber": 1, "requiresApproval": True}]})
    with pytest.raises(PolicyInvalid):
        flow.check_policy({"steps": []})


def test_nodes_of_a_send_class_act_and_others_do_only_when_they_call() -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), mailing(), api("x"), end())).ir
    assert [path for path, _ in list_acting(flow, derive_approval(flow).gates)] == [
        ("ask",),
        ("mail",),
        ("mail", "go"),
        ("x",),
    ]


def test_rules_and_runtime_mean_the_same_nodes() -> None:
    assert "OAS200" in [finding.code for finding in check(flow_of(start(), mailing(), end()))]
    flow = compile_flow(flow_of(start(), gate("ask"), mailing(), end()))
    assert [send for _step, _gate, send in flow.approval.guards] == ["mail"]

from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, node, start

CODE = "OAS232"


def call(risk="write", **cinatra):
    made = api("save", risk=risk)
    made["metadata"]["cinatra"] |= cinatra
    return made


def test_requires_approval_at_a_call_without_a_gate_misleads():
    (finding,) = findings(flow_of(start(), call(requiresApproval=True), end()), CODE)
    assert finding.pointer == "/$referenced_components/save/metadata/cinatra/requiresApproval"
    assert finding.message == (
        'requiresApproval of "save" makes nobody ask: no gate stands before this ApiNode'
    )
    assert finding.severity == "warning"


@pytest.mark.parametrize("policy", ["always", {"steps": []} | {"mode": "always"}, True])
def test_so_does_an_approval_policy(policy):
    made = flow_of(start(), call(approvalPolicy=policy, requiresApproval=True), end())
    (pointer,) = found(made, CODE)
    assert pointer.endswith("/approvalPolicy")


@pytest.mark.parametrize(
    ("risk", "about"),
    [
        ("write", {}), ("write", {"requiresApproval": False}), ("write", {"approvalPolicy": "never"}),
        ("read_only", {"requiresApproval": True}), ("draft_create", {"requiresApproval": True}),
        ("email_send", {"requiresApproval": True}),  # OAS200 says so
    ],
)  # fmt: skip
def test_what_does_not_mislead_is_silent(risk, about):
    assert found(flow_of(start(), call(risk, **about), end()), CODE) == []


def test_a_gate_before_it_or_around_it_is_enough():
    asked = call(requiresApproval=True)
    assert found(flow_of(start(), gate("ask"), asked, end()), CODE) == []
    inner = flow_of(start(), asked, end(), id_="inner")
    assert found(flow_of(start(), gate("ask"), flow_node("run", inner), end()), CODE) == []
    assert len(findings(flow_of(start(), flow_node("run", inner), end()), CODE)) == 1


def test_a_tool_that_is_confirmed_asks_by_itself():
    made = flow_of(start(), call(requiresApproval=True), end())
    made["$referenced_components"]["save"] = node(
        "ToolNode", "save", cinatra={"riskClass": "write", "requiresApproval": True},
        tool={"component_type": "ServerTool", "id": "t", "name": "t", "description": "",
              "inputs": [], "outputs": [], "requires_confirmation": True},
    )  # fmt: skip
    assert found(made, CODE) == []


def test_a_waiver_counts_only_where_control_comes_to_the_flow_node_that_gives_it():
    shared = flow_of(start(), gate("ask"), call(requiresApproval=True), end(), id_="inner")
    waives = flow_node("waives", shared, gateSteps=[{"requiresApproval": False}])
    asks = flow_node("asks", shared)
    assert len(findings(flow_of(start(), waives, asks, end()), CODE)) == 1
    # a person is asked in the first one, and so before the second
    assert found(flow_of(start(), asks, waives, end()), CODE) == []

"""Ways through the loop that few runs take, and what rules and records are told on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import host_context
from cinatra_sdk.activations import advance
from cinatra_sdk.errors import NodeFailed, NotConfigured
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.plans import Plan
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import HostWord
from cinatra_sdk.governance.gateway.context_compiler import compile_context
from cinatra_sdk.governance.gateway.facts import make_run_facts
from cinatra_sdk.governance.gateway.planners import NoPlan, Planned, read_planned
from cinatra_sdk.governance.governance import Governance
from graphs.governed_run import build_graph
from tests.governance.packs import (
    admit_example,
    make_ports,
    make_registry,
    put,
    read_example,
    read_pack,
)
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request

DEFAULTS = "pack_meta/environment_defaults"
YES = {"approved": True, "by": FINANCE}
DENIAL = {"approved": False, "denied": True, "by": FINANCE}


def _go(ledger: Path, pack: Mapping[str, Any], answers: list[Any]) -> tuple[str, int]:
    """The code with which the run was escalated, and how many answers were left."""
    graph = build_graph(lend_refund(ledger, registry=make_registry(pack)), InMemorySaver())
    left = list(answers)
    try:
        advance(
            graph, {"request": request()}, {"configurable": {"thread_id": "r1"}},
            context=host_context(run_id="r1", tenant=TENANT),
            answer=lambda _gate: left.pop(0) if left else None,
        )  # fmt: skip
    except NodeFailed as error:
        return error.code, len(left)
    return "", len(left)


def test_a_call_that_is_denied_each_time_ends_the_run_with_the_denial(tmp_path: Path) -> None:
    code, _left = _go(tmp_path / "refunds", read_pack(), [DENIAL] * 9)
    assert code == "GATE_REJECTED"
    assert count_refunds(tmp_path / "refunds") == 0


def test_a_pack_that_says_nothing_of_timeouts_leaves_a_call_its_time(tmp_path: Path) -> None:
    pack = put(read_pack(), f"{DEFAULTS}/tool_timeout_ms", ...)
    assert _go(tmp_path / "refunds", pack, [YES]) == ("", 0)
    assert count_refunds(tmp_path / "refunds") == 1


def test_a_planner_is_not_asked_for_more_than_the_run_may_spend(tmp_path: Path) -> None:
    pack = put(read_pack(), f"{DEFAULTS}/run_budget/wall_clock_ms", 0)
    code, _left = _go(tmp_path / "refunds", pack, [YES])
    assert code in {"BUDGET_EXCEEDED", "TIMEOUT"}
    assert count_refunds(tmp_path / "refunds") == 0


def test_only_what_writes_is_told_as_completed_and_with_what_it_changed(tmp_path: Path) -> None:
    graph = build_graph(lend_refund(tmp_path / "refunds"), InMemorySaver())
    config: Any = {"configurable": {"thread_id": "r1"}}
    advance(
        graph, {"request": request()}, config, context=host_context(run_id="r1", tenant=TENANT),
        answer=lambda _gate: YES,
    )  # fmt: skip
    calls = graph.get_state(config).values["loop"]["calls"]
    told = {one["call"]["capability_id"]: one["result"] for one in calls}
    assert {name: (one["status"], one.get("mutations")) for name, one in told.items()} == {
        "adp_orders.lookup": ("ok", []),
        "adp_policy.eval": ("ok", []),
        "adp_payments.issue_refund": ("completed", ["refund:txn_1"]),
    }


@pytest.mark.parametrize("tokens", [True, 1.0, -1, None])
def test_a_plan_costs_a_whole_number_of_tokens(tokens: Any) -> None:
    plan = read_example("plan.json")
    assert read_planned(Planned(plan=plan, tokens=0)) == (Plan.read(plan), 0)
    with pytest.raises(NoPlan, match="tokens"):
        read_planned(Planned(plan=plan, tokens=tokens))


@pytest.mark.parametrize(
    ("session", "ephemeral", "named"), [("sess_1", False, "sess_1"), (..., True, "sess_")]
)
def test_a_run_without_a_session_is_known_as_one_that_passes(
    session: Any, ephemeral: bool, named: str
) -> None:
    run = admit_example(session_id=session).run
    assert run.metadata["ephemeral"] is ephemeral
    assert str(run.session_id).startswith(named)


def test_rules_see_the_scopes_that_a_claim_gives_the_agent_and_none_without_one() -> None:
    admitted = admit_example()
    run = admitted.run
    assert make_run_facts(run, admitted.envelope.input)["agent"]["scopes"] == ["tools:read"]
    bare = run.model_copy(update={"agent": run.agent.model_copy(update={"identity_claim": None})})
    assert make_run_facts(bare, admitted.envelope.input)["agent"]["scopes"] == []


@pytest.mark.parametrize(
    ("gate", "active"),
    [
        ({"capabilities": ["adp_orders.lookup"]}, True),
        ({"capabilities": ["adp_orders.lookup"], "when": False}, False),
        ({}, False),
    ],
)
def test_a_gate_of_a_capability_is_in_force_unless_its_condition_says_no(
    gate: dict[str, Any], active: bool
) -> None:
    pack = read_pack()
    mine = {"gate_id": "GATE_MINE", "required_approver_role": "finance_lead", **gate}
    pack["policy_layer"]["approval_gates"].append(mine)
    ports = make_ports()
    controls = compile_context(admit_example(pack, ports), ports).runtime_controls
    assert ("GATE_MINE" in controls.approval_gates_active) is active


@pytest.mark.parametrize("said", [{"agent": "me"}, {"budget": 3}, {"tenant": None}])
def test_a_word_of_the_host_of_another_kind_is_refused(said: dict[str, Any]) -> None:
    word = HostWord(**{"tenant": TENANT, **said})
    governance = Governance(registry=make_registry(), word_for=lambda _run: word)
    with pytest.raises(NotConfigured, match=next(iter(said))):
        governance.read_word({"run_id": "r1", "tenant": TENANT})


def test_a_wrong_record_says_where_and_a_slip_of_a_publisher_what() -> None:
    slip = put(read_pack(), "policy_layer/approval_gate", [])
    with pytest.raises(GovernanceRefused) as told:
        ContextPack.read(slip, code="PACK_INVALID")
    assert "Value error" not in told.value.message
    with pytest.raises(GovernanceRefused, match="Plan: it: "):
        Plan.read("no plan")

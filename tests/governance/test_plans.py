"""Plans are read strictly: what no record could tell of is refused before anything is called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, HostParts, RunStore, SimulatedPlatform
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.plans import Plan
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.planners import Planned, PlanRequest, ScriptedPlanner
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.records.replay import replay
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from graphs.governed_run import flow as governed_run
from oas_compiler import compile_flow
from tests.governance.packs import make_registry, put, read_example, read_pack
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW

PLAN = read_example("plan.json")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("steps/0/id", "tool:1"),
        ("steps/0/id", "x" * 181),
        ("steps/2/evidence_refs", ["order 881"]),
        ("steps/2/evidence_refs", [""]),
        ("subject_ids", ["order 881"]),
        ("subject_ids", [""]),
    ],
)
def test_a_plan_that_no_record_could_tell_of_is_refused(place: str, value: Any) -> None:
    Plan.read(PLAN)
    with pytest.raises(GovernanceRefused) as caught:
        Plan.read(put(PLAN, place, value))
    assert caught.value.code == "INVALID_ENVELOPE"


def test_a_key_that_is_too_long_for_an_envelope_is_an_argument_like_others(
    fresh_database: str, tmp_path: Path
) -> None:
    key = "hidden" * 50
    place = "policy_layer/permissions/2/arg_constraints/idempotency_key"
    registry = make_registry(put(read_pack(), place, {}))
    plan = put(PLAN, "steps/2/params/idempotency_key", key)
    parts = lend_refund(tmp_path / "refunds", registry=registry, plans=[plan])
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", done.error
        records = DecisionRecords(store.database)
        last = records.get(records.page(run_id=run.id).items[0].record.record_id)
        assert last.transcript["calls"][-1]["call"]["idempotency_key"].startswith("ik_")


def test_a_capability_with_a_colon_in_its_name_has_its_record(fresh_database: str) -> None:
    given = make_small_pack().to_json()
    given = put(given, "tooling_layer/adapters/0/capabilities", ["mail:send"])
    about = {"mail:send": given["tooling_layer"]["adapters"][0]["capability_metadata"]["send"]}
    pack = ContextPack.read(put(given, "tooling_layer/adapters/0/capability_metadata", about))
    governance = Governance.of(pack)
    platform = SimulatedPlatform(stubs={"send": {"id": "m1"}})
    host = HostParts(platform=platform, governance=governance)
    with RunStore.open(fresh_database, host=host) as store:
        flow = compile_flow(FLOW, governance=governance, platform=platform)
        run = store.start(flow, {"to": "bob"}, tenant="acme")
        assert run.status == "completed", run.error
        record = DecisionRecords(store.database).page(run_id=run.id).items[0].record
        assert record.status == "DECIDED"
        assert any(ref.startswith("tool:mail.mail:send:") for ref in record.evidence_refs)


def test_a_step_whose_sources_changed_is_carried_out_again(
    fresh_database: str, tmp_path: Path
) -> None:
    """The second plan looks up another order: what the policy said of the first is not taken for it."""
    asked: list[float] = []
    second = put(PLAN, "steps/0/params/order_id", "ord_882")
    # The pack of the example asks that all calls are about one order.
    registry = make_registry(put(read_pack(), "evaluation_layer/evaluators", []))
    parts = lend_refund(tmp_path / "refunds", plans=[PLAN, second], registry=registry)
    pay = parts.tools["issue_refund"]

    def look_up(order_id: str) -> Any:
        return {"order_id": order_id, "total_inr": {"ord_881": 4200, "ord_882": 2500}[order_id]}

    def ask_policy(order_id: str, amount_inr: float) -> Any:
        asked.append(amount_inr)
        return {"eligible": True, "amount_inr": amount_inr}

    def pay_less(**given: Any) -> Any:
        if given["amount_inr"] > 4000:
            raise ValueError("not so much")
        return pay(**given)

    tools = {"lookup_order": look_up, "eval_returns_policy": ask_policy, "issue_refund": pay_less}
    parts = parts.with_parts(tools=tools, graphs=())
    parts = parts.with_parts(graphs=[governed_run.lent(parts)])
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        run = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        run = store.answer(run.id, run.waiting[0].id, Decision.approve(by=FINANCE))
        assert run.status == "completed", run.error
        assert asked == [4200, 2500]
        records = DecisionRecords(store.database)
        record = records.page(run_id=run.id).items[0].record
        assert record.outputs["refund_amount_inr"] == 2500
        transcript = records.get(record.record_id).transcript
        replayed = replay(record, transcript, registry=parts.governance.registry)  # type: ignore[union-attr]
        assert replayed.differences == ()
        assert "verify: it rests on the results of an earlier plan" in replayed.skipped


def test_a_planner_is_told_of_no_token(fresh_database: str, tmp_path: Path) -> None:
    asked: list[PlanRequest] = []
    plans = ScriptedPlanner([PLAN])

    def plan(request: PlanRequest) -> Planned:
        asked.append(request)
        return plans(request)

    parts = lend_refund(tmp_path / "refunds")
    governance = replace(parts.governance, planner=plan)  # type: ignore[type-var]  # there is one
    parts = parts.with_parts(governance=governance, graphs=())
    parts = parts.with_parts(graphs=[governed_run.lent(parts)])
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", "the gateway itself knows the token"
    (told,) = asked
    assert told.run.user.delegation is not None
    assert told.run.user.delegation.token_ref is None
    assert "tok_" not in repr(told.run.to_json())

"""The critic: each rule with a plan that breaks it, beside the plan of the example, which breaks none."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from cinatra_sdk.governance.contracts.invocation import ToolResultEnvelope
from cinatra_sdk.governance.contracts.plans import Plan
from cinatra_sdk.governance.gateway.critic import MAX_RETRIES, Case, score, verify
from cinatra_sdk.governance.run.budgets import Used
from tests.governance.packs import admit_example, make_gateway, put, read_example, read_pack

PLAN = read_example("plan.json")
SECOND_LOOK = {
    "id": "again", "tool": "adp_orders.lookup", "params": {"order_id": "ord_881"},
    "approval_mode": "read_only",
}  # fmt: skip
OUTPUTS = {"refund_amount_inr": 4200, "currency": "INR", "transaction_id": "txn_1"}
STEPS = ("order", "policy", "refund")
EVIDENCE = (
    "kg:order:ord_881#snapshot_kg_2026_05_03_T0930",
    "tool:adp_orders.lookup:order",
    "tool:adp_policy.eval:policy",
)


def make_case(pack: Any = None, **changed: Any) -> Case:
    admitted = admit_example(pack)
    given: dict[str, Any] = {
        "book": admitted.book,
        "decision": admitted.book.decision_for(admitted.envelope.input.intent),
        "run_facts": make_gateway(pack).run_facts,
        "budget": admitted.run.run_budget,
        "used": Used(),
    }
    return Case(**{**given, **changed})


def judge(plan: Any, case: Case | None = None) -> tuple[str, str | None, str | None]:
    said = verify(Plan.read(plan), case or make_case())
    return said.verdict, said.kind, said.offending_step


def with_step(step: dict[str, Any], *, at: int = 3) -> dict[str, Any]:
    made = copy.deepcopy(PLAN)
    made["steps"].insert(at, step)
    return made


def test_the_plan_of_the_example_may_be_carried_out() -> None:
    assert judge(PLAN) == ("ok", None, None)


@pytest.mark.parametrize(
    ("plan", "kind", "step"),
    [
        (put(PLAN, "intent", "support.other"), "violates_decision_spec", None),
        (put(PLAN, "outcome", "perhaps"), "violates_decision_spec", None),
        (put(PLAN, "outcome", ...), "violates_decision_spec", None),
        (put(PLAN, "decision_checkpoints/0/decision_id", "x"), "violates_decision_spec", "refund"),
        (put(PLAN, "decision_checkpoints/0/after_step", "x"), "violates_decision_spec", None),
        (put(PLAN, "outputs/currency", {"$from": "x/y"}), "violates_decision_spec", None),
        (put(PLAN, "steps/1/id", "order"), "loop_guard", "order"),
        (put(PLAN, "steps/0/depends_on", ["refund"]), "loop_guard", "order"),
        (put(PLAN, "steps/0/params/order_id", {"$from": "policy/x"}), "loop_guard", "order"),
        (with_step(SECOND_LOOK), "loop_guard", "again"),
        (put(PLAN, "steps/0/tool", "adp_orders.delete"), "capability_unsurfaced", "order"),
        (put(PLAN, "steps/0/approval_mode", "network"), "approval_mode_mismatch", "order"),
        (put(PLAN, "steps/2/approval_mode", "read_only"), "approval_mode_mismatch", "refund"),
        (put(PLAN, "steps/2/requires", ["GATE_X"]), "approval_mode_mismatch", "refund"),
        (put(PLAN, "steps/0/params", {}), "arguments_invalid", "order"),
        (put(PLAN, "steps/0/params/order_id", 7), "arguments_invalid", "order"),
    ],
)  # fmt: skip
def test_a_plan_that_breaks_a_rule_is_made_anew(plan: Any, kind: str, step: str | None) -> None:
    assert judge(plan) == ("replan", kind, step)


def test_steps_of_earlier_plans_may_be_rested_on() -> None:
    rest = put(PLAN, "steps", PLAN["steps"][1:])
    assert judge(rest)[:2] == ("replan", "loop_guard")
    known = make_case(done={"order": {"total_inr": 4200}}, evidence=EVIDENCE)
    assert judge(rest, known) == ("ok", None, None)


def test_the_same_tool_with_other_arguments_is_no_repetition() -> None:
    assert judge(with_step(put(SECOND_LOOK, "params/order_id", "ord_882"))) == ("ok", None, None)


def test_a_request_that_is_not_eligible_is_rejected_for_good() -> None:
    case = make_case()
    assert case.decision is not None
    never = case.decision.model_copy(update={"eligibility_rules": False})
    assert judge(PLAN, make_case(decision=never)) == ("reject", "violates_decision_spec", None)


def test_without_a_decision_a_plan_has_no_checkpoint() -> None:
    assert judge(PLAN, make_case(decision=None)) == ("replan", "violates_decision_spec", None)
    assert judge(put(PLAN, "decision_checkpoints", []), make_case(decision=None))[0] == "ok"


@pytest.mark.parametrize(
    ("used", "kind"),
    [
        ({"tool_calls": 5}, None),
        ({"tool_calls": 6}, "budget_exceeded"),
        ({"cost_cents": 24.49}, None),
        ({"cost_cents": 24.51}, "budget_exceeded"),
    ],
)
def test_what_a_plan_would_use_up_has_to_be_left(used: dict[str, Any], kind: str | None) -> None:
    assert judge(PLAN, make_case(used=Used(**used)))[1] == kind


def test_what_the_decision_rests_on_has_to_come_from_a_step() -> None:
    case = make_case()
    assert case.decision is not None
    needs = case.decision.model_copy(update={"required_evidence": ("tool:adp_crm.look_up",)})
    assert judge(PLAN, make_case(decision=needs)) == ("replan", "missing_evidence", None)
    brought = make_case(decision=needs, evidence=("tool:adp_crm.look_up:x",))
    assert judge(PLAN, brought) == ("ok", None, None)


def test_a_rule_that_forbids_a_call_of_the_plan_is_named_before_it_is_made() -> None:
    rule = {"rule_id": "R_NO", "if": True, "then": {"allow": False}}
    pack = put(read_pack(), "policy_layer/bundles/0/policy_dsl/rules", [rule])
    assert judge(PLAN, make_case(pack)) == ("replan", "violates_decision_spec", "order")


# ------------------------------------------------------------------ results


def make_result(step: str, status: str = "ok", **error: Any) -> ToolResultEnvelope:
    return ToolResultEnvelope.read(
        {
            "envelope_version": "contextos.tool_result.v1", "tool_call_id": step, "run_id": "r1",
            "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "session_id": "s1",
            "capability_id": "adp_orders.lookup", "status": status, "output": None,
            "error": error or None, "artifacts": [], "citations": [], "mutations": [],
            "risk_tags": [], "policy_decision_id": "pol_1", "latency_ms": 1,
        }
    )  # fmt: skip


def weigh(
    *, outputs: Any = OUTPUTS, retries: int = 0, case: Case | None = None, **of_step: Any
) -> tuple[str, str | None]:
    results = {name: of_step.get(name, make_result(name)) for name in STEPS}
    said = score(
        Plan.read(PLAN),
        {name: one for name, one in results.items() if one is not None},
        case or make_case(evidence=EVIDENCE),
        outputs=outputs,
        retries={"order": retries},
        calls={"refund": {"capability": "adp_payments.issue_refund", "args": {"amount_inr": 4200}, "status": "completed"}},
    )  # fmt: skip
    return said.verdict, said.offending_step


@pytest.mark.parametrize(
    ("changed", "verdict", "step"),
    [
        ({}, "accept", None),
        ({"order": None}, "replan", "order"),
        ({"order": make_result("order", "failed", code="500", transient=True)}, "retry", "order"),
        ({"order": make_result("order", "failed", code="500")}, "replan", "order"),
        ({"order": make_result("order", "blocked", code="POLICY_DENIED")}, "replan", "order"),
        ({"order": make_result("order", "blocked", code="BUDGET_EXCEEDED")}, "escalate", "order"),
        ({"order": make_result("order", "blocked", code="DELEGATION_REQUIRED")}, "escalate", "order"),
        ({"outputs": None}, "replan", None),
        ({"outputs": {**OUTPUTS, "refund_amount_inr": "much"}}, "replan", None),
        ({"outputs": {**OUTPUTS, "refund_amount_inr": 4201}}, "escalate", None),
        ({"case": make_case(evidence=())}, "replan", None),
    ],
)  # fmt: skip
def test_results_carry_the_decision_or_not(
    changed: dict[str, Any], verdict: str, step: str | None
) -> None:
    assert weigh(**changed) == (verdict, step)


def test_a_step_is_tried_again_so_often_and_no_more() -> None:
    broken = make_result("order", "failed", code="500", transient=True)
    assert weigh(order=broken, retries=MAX_RETRIES - 1)[0] == "retry"
    assert weigh(order=broken, retries=MAX_RETRIES)[0] == "replan"

"""A record tells what happened: outcomes have their calls, outputs come from results, words are marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.plans import (
    CarriedCall,
    DecisionSpec,
    Plan,
    find_outcome_problem,
)
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.packs.plan_outputs import (
    describe_chosen,
    find_literal,
    find_output_problem,
)
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.governance.records.replay import replay
from cinatra_sdk.governance.records.story import read_story
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from tests.governance.packs import (
    put,
    read_catalog,
    read_example,
    read_pack,
)
from tests.governance.refund import FINANCE, TENANT, lend_refund, request

PAY = "adp_payments.issue_refund"
SPEC = DecisionSpec.read(read_catalog()["decisions"][0])


@pytest.mark.parametrize(
    ("outcome", "calls", "holds"),
    [
        ("approved", [(PAY, "completed")], True),
        ("approved", [], False),
        ("approved", [(PAY, "blocked")], False),
        ("approved", [(PAY, "error")], False),
        ("approved", [("adp_orders.lookup", "ok")], False),
        ("approved", [(PAY, "failed"), (PAY, "completed")], True),
        ("declined", [], True),
        ("declined", [(PAY, "blocked")], True),
        ("declined", [(PAY, "rejected")], True),
        ("declined", [(PAY, "completed")], False),
        ("declined", [(PAY, "error")], False),
        ("declined", [(PAY, "failed")], False),
        ("unbound", [], True),
        (None, [], True),
    ],
)
def test_an_outcome_has_the_calls_that_it_claims(
    outcome: str | None, calls: list[tuple[str, str]], holds: bool
) -> None:
    made = [CarriedCall(name, status) for name, status in calls]
    assert (find_outcome_problem(SPEC, outcome, made) == "") == holds


def test_every_call_that_changes_something_may_be_claimed_away() -> None:
    spec = SPEC.model_validate_json(
        '{"decision_key":"d","version":"1.0.0","outcomes":{"none":{"forbids":["*"]}}}'
    )
    looked = CarriedCall("adp_orders.lookup", "ok")
    sent = CarriedCall("mail.send", "completed", changes=True)
    assert find_outcome_problem(spec, "none", [looked]) == ""
    assert "and there is one" in find_outcome_problem(spec, "none", [looked, sent])


def test_a_transport_that_failed_before_anything_left_made_no_call() -> None:
    failed = {"status": "failed", "error": {"code": "x", "may_have_happened": False}}
    assert not CarriedCall.of(PAY, failed, changes=True).may_have_happened
    assert CarriedCall.of(PAY, {"status": "failed", "error": {}}, changes=True).may_have_happened
    assert CarriedCall.of(PAY, None, changes=True).may_have_happened, "nobody knows yet"


@pytest.mark.parametrize(
    ("outputs", "place"),
    [
        ({}, None),
        ({"a": {"$from": "s/x"}}, None),
        ({"a": [{"$from": "s/x"}, {"b": {"$from": "s"}}]}, None),
        ({"a": "x"}, "a"),
        ({"a": {"b": [0]}}, "a/b/0"),
        ({"a": None}, "a"),
        ({"a": {"$from": 1}}, "a/$from"),
        ({"a": {"$from": "s/x", "b": {"$from": "s"}}}, "a/$from"),
        ({"a was paid, too": []}, "a was paid, too"),
        ({"a": {"b": {}}}, "a/b"),
        ({"a": [{"$from": "s"}, []]}, "a/1"),
    ],
)
def test_a_value_of_nobodys_is_named_by_its_place(outputs: Any, place: str | None) -> None:
    assert find_literal(outputs) == place


PAID_BY = {"capability": PAY, "member": "id"}
BOUND: dict[str, Any] = {
    "decision_key": "d", "version": "1.0.0", "outputs_from": {"id": PAID_BY},
    "outputs_schema": {"properties": {
        "id": {}, "at": {}, "lines": {"items": {"properties": {"text": {}}}}, "more": {"type": "object"},
        "open": {"properties": {}, "additionalProperties": True},
    }},
}  # fmt: skip
TAKEN = {"$from": "pay/id"}
TWO_STEPS = {
    "plan_id": "p", "intent": "d", "steps": [{"id": "look", "tool": "orders.look"}, {"id": "pay", "tool": PAY}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        ({"id": TAKEN, "at": {"$from": "look/time"}, "lines": [{"text": TAKEN}]}, ""),
        ({"more": {"anything": TAKEN}, "open": {"anything": TAKEN}}, ""),
        ({}, ""),
        ({"id": {"$from": "pay/currency"}}, f"the member 'id' of a result of '{PAY}'"),
        ({"id": {"$from": "look/id"}}, f"the member 'id' of a result of '{PAY}'"),
        ({"id": {"$from": "pay/id/"}}, "of a step of this plan"),
        ({"id": {"$from": "pay"}}, "of a step of this plan"),
        ({"id": {"$from": "earlier/id"}}, "of a step of this plan"),
        ({"id": [TAKEN]}, "of a step of this plan"),
        ({"id": TAKEN, "txn_9 was paid, too": TAKEN}, "'txn_9 was paid, too' stands in no outputs"),
        ({"txn_9 was paid, too": []}, "is the planner's own word"),
        ({"lines": [{"text": TAKEN, "txn_9": TAKEN}]}, "'lines/0/txn_9' stands in no"),
    ],
)
def test_outputs_are_those_of_the_catalog(outputs: Any, problem: str) -> None:
    plan = Plan.read({**TWO_STEPS, "outputs": outputs})
    found = find_output_problem(plan, DecisionSpec.read(BOUND))
    assert problem in found
    assert bool(problem) is bool(found)
    old = find_output_problem(plan, DecisionSpec.read(BOUND), binds=False)
    assert old == "", "plans of earlier releases were judged without"


def test_outputs_that_no_catalog_binds_are_marked() -> None:
    given = {"id": TAKEN, "at": TAKEN, "more": {"txn_9 was paid": TAKEN}}
    assert describe_chosen(given, BOUND) == [
        "the planner chose the results that these outputs are taken from: 'at'",
        "the planner named these outputs, which no catalog does: 'more/txn_9 was paid'",
    ]
    assert describe_chosen({"id": TAKEN}, BOUND) == []
    (told,) = describe_chosen(dict.fromkeys(["x" * 99, *"bcdefg"], TAKEN), None)
    assert told.endswith(f"'{'x' * 60}', 'b', 'c', 'd', 'e' and 2 more")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"outputs_from": {"idd": PAID_BY}}, "'idd' comes from, and its outputs_schema has none"),
        (
            {"outputs_from": {"id": {**PAID_BY, "capability": PAY + "s"}}},
            "which no adapter declares",
        ),
    ],
)
def test_a_catalog_that_binds_what_is_not_there_is_refused(changed: Any, problem: str) -> None:
    decision = {**BOUND, "outputs_schema": {"properties": {"id": {}}}, **changed}
    pack = put(read_pack(), "decision_layer/decisions", [decision])
    with pytest.raises(GovernanceRefused, match=problem):
        make_rulebook([ContextPack.read(pack)])


def decide(dsn: str, folder: Path, plan: Any, catalog: Any = None) -> Any:
    from cinatra_sdk.governance.contracts.context_pack import ContextPack, DecisionCatalog
    from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry

    registry = MemoryRegistry(
        [ContextPack.read(read_pack()), DecisionCatalog.read(catalog or read_catalog())]
    )
    parts = lend_refund(folder / "refunds", registry=registry, plans=[plan])
    with RunStore.open(dsn, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", done.error
        records = DecisionRecords(store.database)
        found = records.get(records.page(run_id=run.id).items[0].record.record_id)
        return found.record, found.transcript, registry


def test_words_of_the_planner_stand_apart_from_what_happened(
    fresh_database: str, tmp_path: Path
) -> None:
    plan = put(read_example("plan.json"), "statements", {"note": "a good customer"})
    record, transcript, registry = decide(fresh_database, tmp_path, plan)
    assert dict(record.statements) == {"note": "a good customer"}
    assert set(record.outputs) == {"refund_amount_inr", "currency", "transaction_id"}
    assert record.rationale.reasons == (), "the catalog binds outcome and outputs"
    assert replay(record, transcript, registry=registry).differences == ()


def test_an_outcome_that_no_catalog_binds_is_marked_as_the_planners_word(
    fresh_database: str, tmp_path: Path
) -> None:
    catalog = put(read_catalog(), "decisions/0/outcomes", {})
    catalog = put(catalog, "decisions/0/outputs_from", ...)
    record, transcript, registry = decide(
        fresh_database, tmp_path, read_example("plan.json"), catalog
    )
    assert record.outcome == "approved"
    outcome, outputs = record.rationale.reasons
    assert "is the planner's word" in outcome
    assert "'refund_amount_inr', 'currency', 'transaction_id'" in outputs
    told = read_story({**transcript, "version": 2}).reasons
    assert told == (outcome,), "earlier releases said nothing of outputs"
    assert record.to_json().get("statements") is None
    assert replay(record, transcript, registry=registry).differences == ()
    # Of an earlier release: the record was made without.
    old = {**transcript, "version": 1}
    assert not any("planner's word" in one for one in read_story(old).reasons)
    again = replay(record, old, registry=registry)
    assert any("an earlier release" in one for one in again.skipped)


def test_what_a_rule_read_of_a_call_is_replayed_with_it(
    fresh_database: str, tmp_path: Path
) -> None:
    record, transcript, registry = decide(fresh_database, tmp_path, read_example("plan.json"))
    assert [one["facts"]["call"]["kind"] for one in transcript["calls"]] == ["tool"] * 3
    assert replay(record, transcript, registry=registry).verdicts >= 3

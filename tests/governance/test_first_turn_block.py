"""A governed run that begins with the context of a first turn, because its pack asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.first_turn import FirstTurn, read_context
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.planners import (
    Planned,
    PlanRequest,
    ScriptedPlanner,
    make_planner_messages,
)
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.governance.records.replay import replay
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from graphs.governed_run import flow as governed_run
from tests.governance.packs import make_registry, put, read_example, read_pack
from tests.governance.refund import FINANCE, TENANT, lend_refund, request

PLACE = "memory_layer/first_turn"
ASKS = {"image_id": "order", "workspace": "orders"}


def ask(**context: Any) -> dict[str, Any]:
    given = request()
    return put(given, "input/context", {**given["input"]["context"], "order": "ord-881", **context})


def lend(
    tmp_path: Path, readers: Any, asks: Any = ASKS, seen: list[PlanRequest] | None = None
) -> Any:
    """seen: what the planner is told."""
    parts = lend_refund(tmp_path / "refunds", registry=make_registry(put(read_pack(), PLACE, asks)))
    plans = ScriptedPlanner([read_example("plan.json")])

    def plan(asked: PlanRequest) -> Planned:
        if seen is not None:
            seen.append(asked)
        return plans(asked)

    governance: Any = parts.governance
    governance = replace(
        governance, planner=plan, ports=replace(governance.ports, first_turn=readers)
    )
    parts = parts.with_parts(governance=governance, graphs=())
    return parts.with_parts(graphs=[governed_run.lent(parts)])


def make_workspace(tmp_path: Path) -> Callable[[str], FirstTurn]:
    folder = tmp_path / "work" / "ord-881"
    folder.mkdir(parents=True)
    (folder / "notes.md").write_text("The customer called twice.\n")
    return lambda image_id: read_context(
        tmp_path / "work", image_id, tastes_dir=tmp_path / "tastes"
    )


def test_the_planner_is_told_and_the_record_can_be_derived_without_the_workspace(
    fresh_database: str, tmp_path: Path
) -> None:
    seen: list[PlanRequest] = []
    parts = lend(tmp_path, {"orders": make_workspace(tmp_path)}, seen=seen)
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": ask()}, tenant=TENANT)
        assert run.status == "waiting", run.error
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", done.error
        records = DecisionRecords(store.database)
        last = records.get(records.page(run_id=run.id).items[0].record.record_id)
    blocks = {one.block_id: one for one in seen[0].compiled.compiled_prompt.context_blocks}
    block = blocks["first_turn"]
    assert block.bucket == "memory"
    assert "> The customer called twice." in block.content
    (_, system), _ = make_planner_messages(seen[0])
    assert "[memory/first_turn]\n# Context of the first turn, version 1" in system
    replayed = replay(last.record, last.transcript, registry=parts.governance.registry)
    assert (replayed.differences, replayed.skipped) == ((), ())


def test_one_that_does_not_fit_is_left_out_whole_and_told(
    fresh_database: str, tmp_path: Path
) -> None:
    seen: list[PlanRequest] = []
    reader = make_workspace(tmp_path)
    (tmp_path / "work" / "ord-881" / "notes.md").write_text(("word " * 500 + "\n") * 20)
    parts = lend(tmp_path, reader, seen=seen)
    with RunStore.open(fresh_database, host=parts) as store:
        store.start(parts.graphs[0], {"request": ask()}, tenant=TENANT)
    compiled = seen[0].compiled
    assert "first_turn" not in [one.block_id for one in compiled.compiled_prompt.context_blocks]
    assert compiled.budget_report.dropped_block_ids["memory"] == ("first_turn",)


@pytest.mark.parametrize(
    ("readers", "context", "error", "told"),
    [
        (None, {}, NotConfigured, "which this process cannot read"),
        ({"photos": lambda _id: FirstTurn()}, {}, NotConfigured, "which this process cannot read"),
        (lambda _id: 7, {}, NotConfigured, "its reader gave a int"),
        (lambda _id: 1 / 0, {}, NotConfigured, "its reader raised ZeroDivisionError"),
        (lambda _id: FirstTurn(), {"order": 7}, GovernanceRefused, "input/context/order is no text"),
        (lambda _id: FirstTurn(), {"order": None}, GovernanceRefused, "input/context/order is no text"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_keeps_the_run_from_starting(
    fresh_database: str, tmp_path: Path, readers: Any, context: Any, error: Any, told: str
) -> None:
    parts = lend(tmp_path, readers)
    with RunStore.open(fresh_database, host=parts) as store:
        with pytest.raises(error, match=told):
            store.start(parts.graphs[0], {"request": ask(**context)}, tenant=TENANT)
        assert store.list() == []


def test_a_workspace_may_be_named_by_the_request_and_no_folder_is(
    fresh_database: str, tmp_path: Path
) -> None:
    asked: list[str] = []

    def read(image_id: str) -> FirstTurn:
        asked.append(image_id)
        return FirstTurn()

    parts = lend(tmp_path, {"north": read}, {"image_id": "order", "workspace": "region"})
    with RunStore.open(fresh_database, host=parts) as store:
        store.start(parts.graphs[0], {"request": ask(region="north")}, tenant=TENANT)
        assert set(asked) == {"ord-881"}
        with pytest.raises(NotConfigured):
            store.start(parts.graphs[0], {"request": ask(region="/etc")}, tenant=TENANT)


def test_a_pack_that_does_not_ask_reads_nothing(fresh_database: str, tmp_path: Path) -> None:
    parts = lend(tmp_path, lambda _id: 1 / 0, None)
    with RunStore.open(fresh_database, host=parts) as store:
        assert store.start(parts.graphs[0], {"request": ask()}, tenant=TENANT).status == "waiting"


def test_two_packs_that_ask_for_others_are_refused() -> None:
    packs = []
    for name, asks in (("ctxpack.a", ASKS), ("ctxpack.b", {"image_id": "photo"})):
        made = put(put(read_pack(), "pack_meta/pack_id", name), PLACE, asks)
        for layer in (
            "policy_layer/bundles",
            "policy_layer/permissions",
            "evaluation_layer/evaluators",
        ):
            made = put(made, layer, [])
        packs.append(ContextPack.read(made))
    with pytest.raises(GovernanceRefused, match="another first turn each"):
        make_rulebook(packs)
    assert make_rulebook(packs[:1]).first_turn is not None
    assert Governance.of(packs[0]).governs_flows

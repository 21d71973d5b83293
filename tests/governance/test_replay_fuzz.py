"""A transcript that somebody changed, anywhere and into anything, is told and never raises."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.records.replay import replay
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from tests.effort import tries
from tests.governance.packs import make_registry
from tests.governance.refund import FINANCE, TENANT, lend_refund, request

WRONG: list[Any] = [
    None, 0, -1, 2**60, 1.5, float("nan"), "", "x", [], {}, [1], {"a": 1}, True, "\x00", "\ud800",
]  # fmt: skip


def test_every_change_of_a_transcript_is_a_difference(fresh_database: str, tmp_path: Path) -> None:
    parts = lend_refund(tmp_path / "refunds")
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        records = DecisionRecords(store.database)
        full = records.get(records.page(run_id=run.id).items[0].record.record_id)
    given = json.loads(json.dumps(full.transcript))
    registry = make_registry()
    assert replay(full.record, given, registry=registry).differences == (), "the control"
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice, places = random.Random(seed), list(list_places(given))
    for _ in range(tries(300, 20_000)):
        place = dice.choice(places)
        changed = change(given, place, dice)
        if changed != given:
            assert replay(full.record, changed, registry=registry).differences, place


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    for name, one in members:
        yield (*place, name)
        yield from list_places(one, (*place, name))


def change(given: Any, place: tuple[Any, ...], dice: random.Random) -> Any:
    made = copy.deepcopy(given)
    inner = made
    for name in place[:-1]:
        inner = inner[name]
    if dice.random() < 0.2:
        del inner[place[-1]]
    elif not isinstance(inner[place[-1]], (bool, float)):  # 1 and 1.0 are the same JSON
        inner[place[-1]] = dice.choice(WRONG)
    return made

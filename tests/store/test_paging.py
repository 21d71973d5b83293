"""Lists in pages: whole, without doubles, and stable under what is added meanwhile."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.pages import read_cursor, read_numbers, write_cursor
from oas_compiler import compile_flow
from tests.flows import end, flow_of, start
from tests.store.damage import PROBLEM, UNREADABLE, damage_gates
from tests.store.work.branches import Branches

FLOW = Branches(("a", "b"))


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def walk(read: Any, between: Any = lambda: None, **wanted: Any) -> list[list[Any]]:
    pages, after = [], ""
    while True:
        page = read(after=after, **wanted)
        pages.append(list(page.items))
        after = page.next
        if not after:
            return pages
        between()


def test_pages_of_runs_hold_each_run_once_in_their_order(store: RunStore) -> None:
    for number in range(7):
        store.create(FLOW, run_id=f"r{number}")
    pages = walk(store.page, limit=3)
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [run.id for page in pages for run in page] == [run.id for run in store.list()]


def add_runs(store: RunStore, number: int) -> None:
    """Runs r1, r2, … of one moment."""
    store.create(FLOW, run_id="r0")
    with store.database.connection() as rows:
        rows.execute(
            "insert into runs (run_id, tenant, digest, input, env_names, lowering, platform)"
            " select 'r' || n, '', digest, input, env_names, lowering, platform"
            " from runs, generate_series(1, %s) n",
            [number],
        )


def test_runs_that_changed_at_one_moment_are_told_apart_by_their_ids(
    store: RunStore, owner_database: str
) -> None:
    add_runs(store, 6)
    with psycopg.connect(owner_database) as rows:
        rows.execute("alter table oasflow.runs disable trigger user")
        rows.execute("update oasflow.runs set updated_at = '2026-01-01T00:00:00.123456Z'")
        rows.execute("update oasflow.rests set changed_at = '2026-01-01T00:00:00.123456Z'")
        for trigger in ("runs_stay", "runs_are_not_emptied", "runs_stand", "runs_stand_at_first"):
            rows.execute(f"alter table oasflow.runs enable always trigger {trigger}")  # type: ignore[arg-type]
    pages = walk(store.page, limit=4)
    assert len({run.updated_at for run in pages[0]}) == 1
    assert [run.id for page in pages for run in page] == [f"r{n}" for n in range(7)]


def test_what_is_added_meanwhile_neither_doubles_nor_hides_a_run(store: RunStore) -> None:
    for number in range(6):
        store.create(FLOW, run_id=f"r{number}")
    pages = walk(store.page, lambda: store.create(FLOW), limit=2)
    assert [run.id for page in pages for run in page] == [f"r{n}" for n in reversed(range(6))]


def test_the_last_page_has_no_cursor_even_where_it_is_full(store: RunStore) -> None:
    for number in range(4):
        store.create(FLOW, run_id=f"r{number}")
    assert [len(page) for page in walk(store.page, limit=2)] == [2, 2]
    assert store.page(status="failed").next == ""


def test_gates_of_all_runs_come_in_pages_the_longest_wait_first(store: RunStore) -> None:
    for number in range(4):
        store.start(FLOW, run_id=f"r{number}", by="bob", tenant="acme" if number == 3 else "")
    store.decide("r1", "a", Decision.approve(by="ann"), flow=FLOW)
    store.stop("r0")
    pages = walk(store.gates, limit=2)
    named = [(gate.run_id, gate.gate.id) for page in pages for gate in page]
    assert [run_id for run_id, _ in named] == ["r1", "r2", "r2", "r3", "r3"]
    assert sorted(named) == [("r1", "b"), ("r2", "a"), ("r2", "b"), ("r3", "a"), ("r3", "b")]
    opened = [gate.opened_at for page in pages for gate in page]
    assert opened == sorted(opened)
    first = pages[0][0]
    assert (first.flow, first.started_by, first.gate.payload["values"]) == (
        "branches",
        "bob",
        {"name": "b"},
    )


def test_gates_are_filtered(store: RunStore) -> None:
    store.start(FLOW, run_id="r1", tenant="acme", by="bob")
    store.start(FLOW, run_id="r2", tenant="beta", by="eve")

    def found(**wanted: Any) -> set[str]:
        return {gate.run_id for gate in store.gates(**wanted).items}

    assert found() == {"r1", "r2"}
    assert found(tenant="acme") == {"r1"}
    assert found(started_by="eve") == {"r2"}
    assert found(flow="branches") == {"r1", "r2"}
    assert found(flow="other") == set()
    assert found(older_than=timedelta(hours=1)) == set()
    assert found(newer_than=timedelta(hours=1)) == {"r1", "r2"}


def test_a_page_without_items_is_refused(store: RunStore) -> None:
    for read in (store.page, store.gates):
        with pytest.raises(InputInvalid, match="at least one item"):
            read(limit=0)


def test_a_gate_that_cannot_be_read_has_its_place_and_is_named(
    store: RunStore, fresh_database: str
) -> None:
    for name in ("r1", "r2"):
        store.start(FLOW, run_id=name)
    damage_gates(fresh_database, "r1", UNREADABLE)
    pages, after = [], ""
    while not pages or after:
        pages.append(store.gates(limit=1, after=after))
        after = pages[-1].next
    readable = [gate.run_id for page in pages for gate in page.items]
    unreadable = [(gate.run_id, gate.problem) for page in pages for gate in page.unreadable]
    assert (len(pages), readable) == (3, ["r2", "r2"])
    assert unreadable == [("r1", f"gate 'bad0': {PROBLEM}")]


def test_the_gates_of_one_run_are_found(store: RunStore) -> None:
    for name in ("r1", "r2"):
        store.start(FLOW, run_id=name)
    assert {gate.run_id for gate in store.gates(run_id="r2").items} == {"r2"}


def test_the_decisions_of_a_run_come_in_pages(store: RunStore) -> None:
    many = Branches(tuple("abcde"))
    store.start(many, run_id="r1")
    store.start(many, run_id="r2")
    store.decide("r1", {name: Decision.approve(by="ann") for name in "abcde"})
    pages = walk(lambda **how: store.decisions_page("r1", **how), limit=2)
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [one for page in pages for one in page] == store.decisions("r1")
    assert len(store.decisions("r1")) == 5
    assert store.decisions_page("r2").items == []


def test_the_calls_of_a_run_come_in_pages(store: RunStore) -> None:
    store.create(FLOW, run_id="r1")
    with store.database.connection() as rows:
        rows.execute(
            "insert into effects (run_id, key, kind, capability, status)"
            " select 'r1', 'k' || n, 'http', 'POST https://x.test/' || n, 'begun'"
            " from generate_series(1, 5) n"
        )
        rows.execute("update effects set status = 'unknown' where run_id = 'r1' and key = 'k3'")
    pages = walk(lambda **how: store.effects("r1", **how), limit=2)
    assert [[one.key for one in page] for page in pages] == [["k1", "k2"], ["k3", "k4"], ["k5"]]
    (unknown,) = store.effects("r1", status="unknown").items
    assert (unknown.key, unknown.capability, unknown.error) == ("k3", "POST https://x.test/3", {})
    assert json.loads(json.dumps(unknown.to_json()))["status"] == "unknown"


def test_names_of_flows_go_on_after_a_name(store: RunStore) -> None:
    for name in ("A", "B", "C"):
        flow = flow_of(start(), end())
        store.create(compile_flow({**flow, "name": name}, platform=SimulatedPlatform()))
    assert store.flow_names(limit=2) == ["A", "B"]
    assert store.flow_names(limit=2, after="B") == ["C"]


def test_no_list_stops_at_a_thousand(store: RunStore) -> None:
    add_runs(store, 1233)
    pages = walk(store.page, limit=500)
    assert [len(page) for page in pages] == [500, 500, 234]
    assert len({run.id for page in pages for run in page}) == 1234


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "é",
        "bnVsbA",
        "W10",
        write_cursor(datetime(2026, 1, 2, tzinfo=UTC), "r1", "gate"),
        "WyIxIiwyXQ",
    ],
)
def test_a_cursor_of_another_list_is_refused(store: RunStore, cursor: str) -> None:
    with pytest.raises(InputInvalid, match="no cursor"):
        store.page(after=cursor)


def test_a_cursor_keeps_its_place_to_the_microsecond() -> None:
    moment = datetime(2026, 11, 23, 4, 5, 6, 789_123, tzinfo=UTC)
    assert read_cursor(write_cursor(moment, "ü/1", "g"), names=2) == (moment, ("ü/1", "g"))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '["2026-01-01T00:00:00Z","a\\u0000"]', '["2026-01-01T00:00:00Z","\\ud800"]'],
    ids=["deep", "NUL", "surrogate"],
)
def test_a_cursor_that_no_database_takes_is_refused_as_one(store: RunStore, text: str) -> None:
    with pytest.raises(InputInvalid, match="is no cursor of this list"):
        store.page(after=base64.urlsafe_b64encode(text.encode()).decode())


MOMENT = "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    "made_up",
    [
        [MOMENT, "r1", "x"], [MOMENT, "r1", "9" * 40], [MOMENT, "r1", "9" * 5000], [MOMENT, "r1", "-1"],
        [MOMENT, "r1", "\u0661"], [MOMENT, "r1", str(2**31)], ["2026-01-01T00:00:00+23:59", "r1", "x"],
        ["0001-01-01T00:00:00+23:59", "r1", "1"], ["9999-12-31T23:59:59-23:59", "r1", "1"],
    ],
    ids=lambda made_up: str(made_up)[:60],
)  # fmt: skip
def test_a_made_up_cursor_is_named_and_never_asked_of_the_database(
    store: RunStore, made_up: list[str]
) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(made_up).encode()).decode()
    with pytest.raises(InputInvalid, match="is no cursor of this list"):
        DecisionRecords(store.database).page(after=cursor)


def test_the_zone_of_a_cursor_is_told_to_the_database_as_utc(store: RunStore) -> None:
    far = base64.urlsafe_b64encode(b'["2026-01-01T00:00:00+23:59","r1"]').decode()
    assert store.page(after=far).items == []
    with pytest.raises(InputInvalid, match="is no cursor of this list"):
        read_numbers(write_cursor(datetime.now(UTC), "1", str(2**63)), names=2)
    assert read_numbers(write_cursor(datetime.now(UTC), "1", str(2**40)), names=2) == (1, 2**40)

"""What a look for due runs reads, and how runs move in the tables: the same whatever number there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import RawCursor
from psycopg.rows import dict_row

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.postgres.connection import STATEMENTS
from cinatra_sdk.store.work.due_runs import CANDIDATES, DueScope
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start

ANN = Decision.approve(by="ann")
MOST_PAGES = 50
FLOW = flow_of(start(), api("first"), gate("ok"), api("second"), end())
LOOK = {**DueScope().ask(limit=CANDIDATES, offered=False), "seconds": 30.0}
LIST = {
    **dict.fromkeys(("statuses", "run_ids", "tenant", "flow", "started_by", "older_than", "newer_than")),
    "after_at": None, "after_run": None, "limit": 1,
}  # fmt: skip
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "the next for a sweep": ("take_due_run", LOOK),
    "a page for doctor": ("list_due_runs", DueScope().ask(limit=1000, offered=True)),
    "the next by the clock": ("tell_next_due", {"grace": 30.0}),
    "the latest change": ("list_runs", LIST),
    "the latest that waits": ("list_runs", {**LIST, "statuses": ["waiting"]}),
    "one that is worked on": ("list_runs", {**LIST, "statuses": ["running"]}),
    "one that is a year old": ("list_runs", {**LIST, "older_than": "1 year"}),
    "one of a tenant": ("list_runs", {**LIST, "tenant": "nobody"}),
    "the beginning of an id": (
        "find_runs", {"prefix": "p77", "tenant": None, "after": "", "limit": 2},
    ),
    "the oldest to archive": (
        "list_archivable",
        {"counted": False, "dead_letters": True, "tenant": None, "run_id": None, "after_at": None,
         "older_than": "1 year", "after_run": "", "limit": 1},
    ),
    "dead letters": ("list_dead_letters", {"tenant": None, "limit": 1}),
}  # fmt: skip


def fill(rows: psycopg.Connection[Any], runs: int) -> None:
    """So many copies of the run `seed`: half of them wait, half have ended."""
    for table in ("gates", "run_events"):
        rows.execute(f"alter table {table} disable trigger all")  # type: ignore[call-overload]
    names = {
        table: [
            row["name"]
            for row in rows.execute(
                "select column_name as name from information_schema.columns"
                " where table_schema = 'oasflow' and table_name = %s",
                (table,),
            )
        ]
        for table in ("runs", "gates")
    }
    moments = "clock_timestamp() - i * interval '1 second'"
    told = {
        "run_id": "'p' || i", "created_at": moments, "updated_at": moments, "opened_at": moments,
        "status": "case when i % 2 = 0 then 'completed' else status end",
    }  # fmt: skip
    for table, columns in names.items():
        values = ", ".join(told.get(name, name) for name in columns)
        rows.execute(
            f"insert into {table} ({', '.join(columns)}) select {values}"  # type: ignore[call-overload]
            f" from {table}, generate_series(1, {runs}) as i where run_id = 'seed'"
        )
    for table in ("runs", "gates", "work", "rests", "running"):
        rows.execute(f"vacuum analyze {table}")  # type: ignore[call-overload]


def count_pages(rows: psycopg.Connection[Any], text: str, values: list[Any]) -> int:
    explained = RawCursor(rows, row_factory=dict_row).execute(
        f"explain (analyze, buffers, costs off, timing off) {text}",  # type: ignore[arg-type]
        values,
        prepare=False,
    )
    lines = [next(iter(row.values())) for row in explained.fetchall()]
    top = next(line for line in lines if "Buffers:" in line)
    return sum(int(number) for number in re.findall(r"(?:hit|read)=(\d+)", top))


@pytest.fixture
def rows(fresh_database: str, superuser_database: str) -> Iterator[psycopg.Connection[Any]]:
    flow = compile_flow(FLOW, platform=SimulatedPlatform())
    with RunStore.open(fresh_database) as store:
        assert store.start(flow, run_id="seed").status == "waiting"
    options = "-c search_path=oasflow -c jit=off -c session_replication_role=replica"
    with psycopg.connect(
        superuser_database, autocommit=True, row_factory=dict_row, options=options
    ) as connection:
        yield connection


@pytest.mark.parametrize("runs", [1_000, 10_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_looks_read_a_few_pages_whatever_number_of_runs_waits_or_ended(
    rows: psycopg.Connection[Any], runs: int
) -> None:
    fill(rows, runs)
    read = {}
    for what, (name, about) in ASKED.items():
        text, names = STATEMENTS[name]
        read[what] = count_pages(rows, text, [about[name] for name in names])
    assert {what: pages for what, pages in read.items() if pages > MOST_PAGES} == {}
    # The control: the gauge sees a statement that reads them all.
    everything = "select count(*) from runs where status = 'running' or retry_at is not null"
    assert count_pages(rows, everything, []) > MOST_PAGES


def test_a_look_finds_what_is_due_among_many_that_are_not(rows: psycopg.Connection[Any]) -> None:
    fill(rows, 1_000)
    rows.execute("update runs set status = 'running', attempts = attempts + 1 where run_id = 'p1'")
    rows.execute(
        "update runs set status = 'failed', retry_at = clock_timestamp() where run_id = 'p3'"
    )
    rows.execute(
        "update gates set state = 'decided', settled_at = clock_timestamp(), fence = 1"
        " where run_id = 'p5'"
    )
    text, names = STATEMENTS["list_due_runs"]
    about = {**DueScope().ask(limit=10, offered=True)}
    found = RawCursor(rows, row_factory=dict_row).execute(text, [about[name] for name in names])
    assert {(row["run_id"], row["reason"]) for row in found} == {
        ("p1", "left"),
        ("p3", "failed"),
        ("p5", "decided"),
    }


@contextmanager
def counting_updates(dsn: str) -> Iterator[dict[str, int]]:
    """Updates of `runs` and `work` inside, and how many stayed on their page."""
    counted: dict[str, int] = {}
    with psycopg.connect(dsn, autocommit=True) as rows:

        def read() -> list[int]:
            rows.execute("select pg_stat_clear_snapshot()")
            found = rows.execute(
                "select sum(n_tup_upd)::int, sum(n_tup_hot_upd)::int from pg_stat_user_tables"
                " where schemaname = 'oasflow' and relname in ('runs', 'work')"
            ).fetchone()
            assert found is not None
            return list(found)

        before = read()
        yield counted
        after = read()
    counted["all"], counted["hot"] = (new - old for new, old in zip(after, before, strict=True))


def drive(dsn: str, runs: int) -> None:
    """Whole runs; when the store is closed, its connections have told the server what they did."""
    flow = compile_flow(FLOW, platform=SimulatedPlatform())
    with RunStore.open(dsn) as store:
        for number in range(runs):
            store.start(flow, run_id=f"r{number}-{runs}")
            assert store.answer(f"r{number}-{runs}", "ok", ANN).status == "completed"
    with psycopg.connect(dsn, autocommit=True) as rows:
        ours = "select count(*) from pg_stat_activity where application_name = 'oasflow'"
        while rows.execute(f"{ours} and datname = current_database()").fetchone() != (0,):
            pass


def test_nine_of_ten_updates_of_a_runs_rows_stay_on_their_page(
    fresh_database: str, owner_database: str
) -> None:
    with counting_updates(fresh_database) as counted:
        drive(fresh_database, 20)
    assert counted["all"] >= 20 * 9
    assert counted["hot"] >= counted["all"] * 0.9
    with psycopg.connect(owner_database, autocommit=True) as rows:
        rows.execute("create index on oasflow.runs (status, updated_at desc)")
    with counting_updates(fresh_database) as counted:  # the control
        drive(fresh_database, 21)
    assert counted["hot"] < counted["all"] * 0.9

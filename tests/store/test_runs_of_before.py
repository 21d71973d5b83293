"""Runs that the version before left behind go on after the migration, and what was decided stays.

`parked_at_009.jsonl` holds the rows of runs that the version with migrations 001 to 009 stored: one
row of one table per line, as that version's process wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import GateClosed
from cinatra_sdk.postgres import migration, role_rights
from cinatra_sdk.postgres.connection import migrations
from cinatra_sdk.postgres.migration import migrate
from tests.databases import Databases

ROWS = Path(__file__).with_name("parked_at_009.jsonl")


@pytest.fixture
def migrated(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The DSN of a database of 009 with its rows, migrated."""
    name = make_conninfo(databases.take())
    dsn = databases.as_owner(name)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("drop schema oasflow cascade")
    with monkeypatch.context() as before:
        for module in (migration, role_rights):
            before.setattr(module, "migrations", lambda: migrations()[:9])
        migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as connection:
        kept = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
        for entry in kept:
            _insert(connection, entry)
        for entry in kept:  # last, because a run that has ended takes no decision
            if entry["table"] == "runs":
                connection.execute(
                    "update oasflow.runs set status = %s where run_id = %s",
                    [entry["row"]["status"], entry["row"]["run_id"]],
                )
    migrate(dsn)
    yield dsn
    databases.drop(name)


def _insert(connection: psycopg.Connection[Any], entry: dict[str, Any]) -> None:
    table = sql.Identifier("oasflow", entry["table"])
    query = sql.SQL("insert into {0} select * from json_populate_record(null::{0}, %s)")
    row = entry["row"] | ({"status": "running"} if entry["table"] == "runs" else {})
    connection.execute(query.format(table), [json.dumps(row)])


def answer_all(store: RunStore, run_id: str, values: dict[str, Any] | None = None) -> list[str]:
    """Approve every gate in turn; their ids."""
    asked = []
    while waiting := store.get(run_id).waiting:
        asked.append(waiting[0].id)
        value = (values or {}).get(waiting[0].id)
        given: dict[str, Any] = {} if value is None else {"value": value}
        store.answer(run_id, waiting[0].id, Decision.approve(by="eve", **given))
    return asked


def test_parked_runs_go_on(migrated: str) -> None:
    with RunStore.open(migrated) as store:
        assert answer_all(store, "plain") == ["first", "second"]
        assert answer_all(store, "nested") == ["sub/check"]
        assert answer_all(store, "answered") == ["second"]
        assert answer_all(store, "setup", {"start": "bees"}) == ["start", "ask"]
        assert store.get("setup").outputs == {"topic": "bees"}
        for run_id in ("plain", "nested", "answered", "setup"):
            assert store.get(run_id).status == "completed", run_id


def test_what_was_decided_stays(migrated: str) -> None:
    with RunStore.open(migrated) as store:
        (kept,) = store.decisions("answered")
        assert (kept.gate_id, kept.decided_by, kept.reason) == ("first", "bob", "fine")
        assert store.get("done").status == "completed"
        assert store.get("rejected").status == "rejected"
        with pytest.raises(GateClosed, match="already rejected by bob"):
            store.answer("rejected", "first", Decision.approve(by="eve"))


def test_a_run_whose_process_died_with_an_answer_goes_on_from_it(migrated: str) -> None:
    with RunStore.open(migrated) as store:
        run = store.resume("died")
        assert [gate.id for gate in run.waiting] == ["second"]
        (kept,) = store.decisions("died")
        assert (kept.gate_id, kept.decided_by) == ("first", "bob")

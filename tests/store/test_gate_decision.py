"""A decision as an auditor reads it: every column of the table, by name, and not to be changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from typing import Any

import pytest

from cinatra_sdk import Decision, Run, RunStore, SimulatedPlatform
from cinatra_sdk.errors import RunNotFound
from cinatra_sdk.store.decisions.decision_rows import GateDecision
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start


def test_a_record_has_every_column_of_the_table(fresh_database: str) -> None:
    flow = compile_flow(flow_of(start(), gate("review"), end()), platform=SimulatedPlatform())
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {}, "r1")
        store.answer("r1", run.waiting[0].id, Decision.approve(by="ann", reason="fine"))
        (record,) = store.decisions("r1")
        with store.database.connection() as connection:
            columns = connection.execute(
                "select column_name as name from information_schema.columns"
                " where table_schema = 'oasflow' and table_name = 'decisions'"
            ).fetchall()
    assert {column["name"] for column in columns} == {
        field.name for field in fields(record) if field.name != "unreadable"
    }
    assert (record.gate_id, record.kind, record.decided_by) == ("review", "approved", "ann")
    assert record["reason"] == record.reason == "fine"
    assert dict(record)["visit"] == 1
    assert record.decided_at.tzinfo is not None


def test_a_record_cannot_be_changed_and_has_no_other_names(fresh_database: str) -> None:
    record = GateDecision.of({field.name: "" for field in fields(GateDecision)})
    with pytest.raises(FrozenInstanceError):
        record.decided_by = "bob"  # type: ignore[misc]
    with pytest.raises(KeyError):
        record["of"]
    assert len(record) == len(list(record)) == 18


def test_a_record_is_written_as_json(fresh_database: str) -> None:
    given = {field.name: "" for field in fields(GateDecision)}
    record = GateDecision.of(given | {"decided_at": datetime(2026, 1, 2, tzinfo=UTC)})
    assert json.loads(json.dumps(record.to_json()))["decided_at"] == "2026-01-02T00:00:00+00:00"


def test_a_misspelt_keyword_is_refused(fresh_database: str) -> None:
    wrong: Any = {"platfrom": SimulatedPlatform()}
    with RunStore.open(fresh_database) as store:
        calls: list[Callable[..., Any]] = [
            lambda **given: RunStore.open(fresh_database, **given),
            lambda **given: RunStore(store.database, **given),
            store.list,
        ]
        for call in calls:
            with pytest.raises(TypeError, match="'platfrom'"):
                call(**wrong)


def test_the_twin_of_a_method_calls_the_method_of_a_subclass(fresh_database: str) -> None:
    class Watched(RunStore):
        def get(self, run_id: str, *, tenant: str | None = None) -> Run:
            asked.append(run_id)
            return super().get(run_id, tenant=tenant)

    asked: list[str] = []
    with Watched.open(fresh_database) as store, pytest.raises(RunNotFound):
        asyncio.run(store.aget("r1"))
    assert asked == ["r1"]


def test_the_twin_of_a_method_takes_and_gives_the_same(fresh_database: str) -> None:
    async def listed() -> list[Run]:
        async with await RunStore.aopen(fresh_database) as store:
            return await store.alist(limit=1)

    assert asyncio.run(listed()) == []
    assert RunStore.aget.__name__ == "aget"
    assert "`get`" in (RunStore.aget.__doc__ or "")

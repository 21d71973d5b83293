"""How many statements an activation costs, the engine's own included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.store.work import claims
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start
from tests.store.work.statements import counted

FLOW = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())
MOST = 4
"""Statements of one activation; one is the look of `work` at the run before it."""


@pytest.fixture
def store(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    # What waits to be stored is stored in between where the machine is slow; that is no cost of a run.
    monkeypatch.setattr(claims, "PAUSE", 60.0)
    with RunStore.open(fresh_database) as opened:
        opened.start(FLOW, run_id="before")  # connects
        yield opened


def test_an_activation_that_parks_stays_within_its_budget(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(FLOW, run_id="r1")
    with counted(monkeypatch) as seen:
        assert store.work("r1").status == "waiting"
    assert len(seen) <= MOST, seen


def test_an_activation_that_carries_out_an_answer_stays_within_its_budget(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.decide("before", "ok", Decision.approve(by="ann"))
    with counted(monkeypatch) as seen:
        assert store.work("before").status == "completed"
    assert len(seen) <= MOST, seen


def test_a_start_and_an_answer_stay_within_their_budgets(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counted(monkeypatch) as started:
        assert store.start(FLOW, run_id="r1").status == "waiting"
    with counted(monkeypatch) as answered:
        assert store.answer("r1", "ok", Decision.approve(by="ann")).status == "completed"
    assert len(started) <= 3, started
    assert len(answered) <= 5, answered


def test_connections_of_activations_are_used_again(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    connect = psycopg.Connection.connect

    def counting(*args: Any, **kwargs: Any) -> Any:
        made.append(args)
        return connect(*args, **kwargs)

    monkeypatch.setattr(psycopg.Connection, "connect", counting)
    for number in range(10):
        store.start(FLOW, run_id=f"r{number}")
        store.answer(f"r{number}", "ok", Decision.approve(by="ann"))
    assert made == []


def test_a_connection_that_the_server_ended_is_not_used_again(
    store: RunStore, superuser_database: str
) -> None:
    with psycopg.connect(superuser_database, autocommit=True) as connection:
        ended = connection.execute(
            "select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone()
    assert ended is not None
    assert ended[0] >= 2
    assert store.answer("before", "ok", Decision.approve(by="ann")).status == "completed"


def test_a_lock_does_not_outlive_its_activation(store: RunStore) -> None:

    store.create(FLOW, run_id="r1")
    flow: Any = _Unmade(FLOW)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            store.work("r1", flow=flow, wait=0)
    with store.database.connection() as rows:
        found = rows.execute("select count(*) as n from pg_locks where locktype = 'advisory'")
        assert found.fetchone() == {"n": 0}
    assert store.work("r1", flow=FLOW, wait=0).status == "waiting"


class _Unmade:
    """A flow whose graph cannot be made."""

    def __init__(self, flow: Any) -> None:
        self._flow = flow

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flow, name)

    def graph(self, checkpointer: Any = None) -> Any:
        raise ZeroDivisionError

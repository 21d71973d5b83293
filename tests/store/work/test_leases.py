"""A run is held by its lease; the lock of a connection only tells sooner that a worker died."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import RunBusy, RunStore, SimulatedPlatform
from cinatra_sdk.postgres.connection import Rows, connect, every
from cinatra_sdk.store.work.claims import Claim, Claims
from cinatra_sdk.store.work.due_runs import DueScope
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start

LOCK = "select pg_advisory_lock(hashtextextended('oasflow:run:r1', 0))"
LOCKED = "select count(*) as n from pg_locks where locktype = 'advisory' and granted"
HOURS = 7200.0


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=SimulatedPlatform(), lease=HOURS) as opened:
        opened.create(compile_flow(flow_of(start(), gate("ask"), end())), run_id="r1")
        yield opened


@pytest.fixture
def other(fresh_database: str) -> Iterator[Rows]:
    """A session of somebody else."""
    with connect(fresh_database) as connection:
        yield connection


def work_row(rows: Rows) -> dict[str, Any]:
    found = rows.execute("select * from oasflow.work where run_id = 'r1'").fetchone()
    assert found is not None
    return found


def list_due(rows: Rows) -> list[str]:
    asked = DueScope(grace=0).ask(limit=10, offered=True)
    return [row["run_id"] for row in every(rows, "list_due_runs", asked)]


def abandon(claims: Claims, connection: Rows) -> Claim:
    """Claim the run and say nothing more of it; whoever ends the connection ends the worker."""
    return claims._take(connection, "r1", 0, None)


@pytest.mark.own_session("a session of its own holds the lock")
def test_a_lock_without_a_lease_keeps_nobody_from_a_run(store: RunStore, other: Rows) -> None:
    other.execute(LOCK)
    with store._claims.claim("r1", wait=0):
        row = work_row(other)
        assert row["lease_until"] is not None
        assert row["backend_pid"] is None, "the lease alone holds the run"
        with pytest.raises(RunBusy), store._claims.claim("r1", wait=0):  # the control: a lease does
            pass
    assert work_row(other)["lease_until"] is None


@pytest.mark.own_session("a session of its own holds the lock")
def test_a_lock_without_a_lease_makes_no_run_less_due(store: RunStore, other: Rows) -> None:
    with store._claims.claim("r1", wait=0):
        assert list_due(other) == []  # the control
    other.execute(LOCK)
    assert list_due(other) == ["r1"]


@pytest.mark.own_session("a session of its own holds the lock")
def test_a_free_lock_gives_nobody_a_run_that_is_held_by_its_lease(
    store: RunStore, fresh_database: str, other: Rows
) -> None:
    other.execute(LOCK)
    with connect(fresh_database) as connection:
        abandon(store._claims, connection)
        other.execute("select pg_advisory_unlock_all()")
        with pytest.raises(RunBusy), store._claims.claim("r1", wait=0):
            pass
        assert list_due(other) == []
    # Its connection has ended, which nobody can see: the lease says how long it has the run.
    with pytest.raises(RunBusy), store._claims.claim("r1", wait=0):
        pass
    other.execute("update oasflow.work set lease_until = clock_timestamp() where run_id = 'r1'")
    with store._claims.claim("r1", wait=0):
        pass


def test_the_run_of_a_worker_that_died_is_free_at_once_where_its_lock_tells(
    store: RunStore, fresh_database: str, other: Rows
) -> None:
    connection = connect(fresh_database)
    first = abandon(store._claims, connection)
    by_lock = work_row(other)["backend_pid"] is not None
    with pytest.raises(RunBusy), store._claims.claim("r1", wait=0):
        pass
    connection.close()
    if by_lock:
        with store._claims.claim("r1", wait=30) as (_, second):
            assert second.fence > first.fence
    else:  # behind a pooler the connection says nothing
        with pytest.raises(RunBusy), store._claims.claim("r1", wait=0):
            pass


@pytest.mark.own_session("a session of its own holds the lock")
def test_a_lock_that_is_free_in_the_end_is_taken(store: RunStore, other: Rows) -> None:
    """Whoever released the run a moment ago still had its lock; the next one is found dead at once again."""
    other.execute(LOCK)
    claims = store._claims

    def unlock(_seconds: float) -> None:
        other.execute("select pg_advisory_unlock_all()")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cinatra_sdk.store.work.claims.time.sleep", unlock)
        with claims.claim("r1", wait=0):
            assert work_row(other)["backend_pid"] is not None
            assert other.execute(LOCKED).fetchone() == {"n": 1}
    assert other.execute(LOCKED).fetchone() == {"n": 0}

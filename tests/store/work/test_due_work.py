"""`work(due=True)`, and claims that find nothing to do: what is not due is left as it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.outside.http_calls.protocol import PlatformUnreachable
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start
from tests.store.work.statements import counted

ANN = Decision.approve(by="ann")


class Lame(SimulatedPlatform):
    """Cannot be reached for as many calls as the test says."""

    fails = 0

    def call(self, call: Any) -> Any:
        self.fails -= 1
        if self.fails >= 0:
            raise PlatformUnreachable("no connection", node=call.node)
        return super().call(call)


@pytest.fixture
def platform() -> Lame:
    return Lame()


@pytest.fixture
def store(fresh_database: str, platform: Lame) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        flow = compile_flow(
            flow_of(start(), api("first"), gate("ok"), api("second"), end()), platform=platform
        )
        assert opened.start(flow, run_id="r1").status == "waiting"
        yield opened


def read_rows(store: RunStore) -> Any:
    """The versions of the run's rows: each write makes a new one."""
    with store.database.connection() as rows:
        return rows.execute(
            "select r.xmin::text as run, w.xmin::text as work, w.worker, w.lease_until, w.events"
            " from runs r join work w using (run_id) where run_id = 'r1'"
        ).fetchone()


def test_a_waiting_run_without_a_decision_costs_one_statement_and_no_write(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_rows(store)
    with counted(monkeypatch) as seen:
        assert store.work("r1", due=True).status == "waiting"
    assert len(seen) == 1, seen
    assert read_rows(store) == before
    store.work("r1")  # the control: it looks for itself, and writes
    assert read_rows(store) != before


def test_a_decision_makes_a_run_due(store: RunStore) -> None:
    store.decide("r1", "ok", ANN)
    assert store.work("r1", due=True).status == "completed"
    before = read_rows(store)
    assert store.work("r1", due=True).status == "completed"  # an ended one is given back
    assert read_rows(store) == before


def test_a_failed_run_is_due_at_its_moment(store: RunStore, platform: Lame) -> None:
    platform.fails = 1
    failed = store.answer("r1", "ok", ANN)
    assert (failed.status, failed.failures) == ("failed", 1)
    assert failed.retry_at is not None
    assert store.work("r1", due=True).attempts == failed.attempts
    with store.database.connection() as rows:
        rows.execute("update runs set retry_at = clock_timestamp()")
    assert store.work("r1", due=True).status == "completed"


def test_a_run_that_somebody_works_on_is_not_due(store: RunStore) -> None:
    store.decide("r1", "ok", ANN)
    with store._claims.claim("r1", wait=0):
        assert store.work("r1", due=True).status == "running"
        assert store.get("r1").attempts == 2
    # The claim gave it up, and nobody carried the decision out.
    assert store.work("r1", due=True).status == "completed"


def test_a_claim_that_finds_nothing_to_do_leaves_no_mark(store: RunStore) -> None:
    before = read_rows(store)
    with store._claims.claim("r1", wait=0, attempts=99) as (_, claim):
        assert not claim.has_begun
        assert read_rows(store) == before
    assert read_rows(store) == before
    assert [event.kind for event in store.events("r1")]  # ends: nobody has the run
    store.stop("r1", by="ann")
    before = read_rows(store)
    with store._claims.claim("r1", wait=0) as (_, claim):
        assert not claim.has_begun
        assert read_rows(store) == before
    with store.database.connection() as rows:
        locks = rows.execute("select count(*) as n from pg_locks where locktype = 'advisory'")
        assert locks.fetchone() == {"n": 0}


def test_a_claim_is_no_change_of_the_run(store: RunStore) -> None:
    rested = store.get("r1").updated_at
    store.decide("r1", "ok", ANN)
    with store._claims.claim("r1", wait=0):
        worked_on = store.get("r1")
        assert (worked_on.status, worked_on.updated_at) == ("running", rested)
        assert [run.id for run in store.list(status="running")] == ["r1"]
        assert store.list(status="waiting") == []
        assert [run.id for run in store.list()] == ["r1"]
        assert [run.id for run in store.list(newer_than=timedelta(hours=1))] == ["r1"]
    assert store.work("r1").updated_at != rested
    assert [run.id for run in store.list(status="completed")] == ["r1"]
    assert store.list(status="running") == []


def test_what_was_decided_in_a_run_that_was_stopped_is_looked_at_no_more(store: RunStore) -> None:
    store.decide("r1", "ok", ANN)
    store.stop("r1", by="ann")
    with store.database.connection() as rows:
        parked = rows.execute(
            "select count(*) as n from gates where state = 'decided' and fence > 0"
        )
        assert parked.fetchone() == {"n": 0}
        kept = rows.execute("select count(*) as n from running").fetchone()
        assert kept == {"n": 0}

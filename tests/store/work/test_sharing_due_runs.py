"""Sweeps of several slots and processes: a slow call keeps nobody, and each due run is claimed once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.outside.http_calls.protocol import PlatformUnreachable
from cinatra_sdk.store.runs.retries import RetryPolicy
from cinatra_sdk.store.work import due_runs
from cinatra_sdk.store.work.sweep import SweptRun
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, port, start
from tests.servers import start_server
from tests.store.work.sweeping import sweep_and_count
from tests.warm import FORKED

ANN = Decision.approve(by="ann")
PATIENCE = 120.0
"""Seconds to wait for another thread or process of the test, also on a busy machine."""
HOUR = 3600.0


class Slow(SimulatedPlatform):
    """Its node `slow` answers when the test says so; `lame` cannot be reached."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.released = threading.Event(), threading.Event()

    def call(self, call: Any) -> Any:
        if call.node == "lame":
            raise PlatformUnreachable("no connection", node=call.node)
        if call.node == "slow":
            self.begun.set()
            assert self.released.wait(PATIENCE)
        return super().call(call)


@pytest.fixture
def platform() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.released.set()


@pytest.fixture
def store(fresh_database: str, platform: Slow) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


def gated(platform: Slow, node: str) -> Any:
    document = flow_of(start(), gate("ask"), api(node, outputs=[port("o")]), end(), id_=f"f-{node}")
    return compile_flow(document, platform=platform)


def wait_for(holds: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def sweeping(store: RunStore, **told: Any) -> Iterator[list[SweptRun]]:
    """A sweep in a thread; what it swept, once it has ended."""
    swept: list[SweptRun] = []
    thread = threading.Thread(target=lambda: swept.extend(store.sweep(grace=0.0, **told)))
    thread.start()
    try:
        yield swept
    finally:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_slow_call_keeps_its_own_slot_only(store: RunStore, platform: Slow) -> None:
    slow, quick = gated(platform, "slow"), gated(platform, "quick")
    store.start(slow, run_id="slow")
    store.start(quick, run_id="quick")
    store.decide("slow", "ask", ANN)
    with sweeping(store, workers=2) as swept:
        assert platform.begun.wait(PATIENCE)
        store.decide("quick", "ask", ANN)  # while the sweep is under way
        wait_for(lambda: store.get("quick").status == "completed")
        assert store.get("slow").status == "running"
        platform.released.set()
    assert [(run.run_id, run.status) for run in swept] == [
        ("slow", "completed"),
        ("quick", "completed"),
    ]


def test_a_limit_counts_what_is_decided_during_the_sweep(store: RunStore, platform: Slow) -> None:
    for name in ("slow", "quick"):
        store.start(gated(platform, name), run_id=name)
    store.decide("slow", "ask", ANN)
    with sweeping(store, workers=2, limit=1) as swept:
        assert platform.begun.wait(PATIENCE)
        store.decide("quick", "ask", ANN)
        platform.released.set()
    assert [run.run_id for run in swept] == ["slow"]
    assert [run.run_id for run in store.sweep(grace=0.0)] == ["quick"]


@contextmanager
def watching(store: RunStore, **told: Any) -> Iterator[list[SweptRun]]:
    swept: list[SweptRun] = []
    stop = threading.Event()
    with sweeping(store, watch=HOUR, stop=stop, on_swept=swept.append, **told):
        try:
            yield swept
        finally:
            stop.set()


def test_a_watching_sweep_is_woken_by_what_becomes_due(store: RunStore, platform: Slow) -> None:
    """Whoever watches looks once an hour, and is told of a decision, a new run and a settled call."""
    quick = gated(platform, "quick")
    store.start(quick, run_id="r1")
    with watching(store) as swept:
        wait_for(lambda: _listens(store))
        store.decide("r1", "ask", ANN)
        wait_for(lambda: store.get("r1").status == "completed")
        store.create(quick, run_id="r2")
        wait_for(lambda: store.get("r2").status == "waiting")
        wait_for(lambda: len(swept) == 2)
    assert [(run.run_id, run.reason) for run in swept] == [("r1", "decided"), ("r2", "created")]


def test_a_watching_sweep_tries_a_failed_run_again_at_its_moment(
    fresh_database: str, platform: Slow
) -> None:
    retries = RetryPolicy(transient=(0.3,), most=2)
    flow = compile_flow(flow_of(start(), api("lame"), end()), platform=platform)
    with (
        RunStore.open(fresh_database, platform=platform, retries=retries) as store,
        watching(store),
    ):
        wait_for(lambda: _listens(store))
        store.start(flow, run_id="r1")
        wait_for(lambda: store.get("r1").failures == 2)
        assert store.get("r1").error["code"] == "attempts_exhausted"


@pytest.mark.own_session("stops the server")
def test_a_watching_sweep_outlives_an_outage_of_the_database(platform: Slow) -> None:
    stop = threading.Event()
    with start_server() as server, RunStore.open(server.dsn(), platform=platform) as store:
        for name in ("r1", "r2"):
            store.start(gated(platform, "quick"), run_id=name)
        with sweeping(store, watch=0.5, stop=stop):
            store.decide("r1", "ask", ANN)
            wait_for(lambda: store.get("r1").status == "completed")
            server.stop("immediate")
            time.sleep(3)  # longer than it takes to look again
            server.start()
            store.decide("r2", "ask", ANN)
            wait_for(lambda: store.get("r2").status == "completed")
            stop.set()


def test_nobody_is_told_where_whoever_decides_goes_on(store: RunStore, platform: Slow) -> None:
    quick = gated(platform, "quick")
    with _listening(store) as told:
        store.start(quick, run_id="r1")
        store.answer("r1", "ask", ANN)
        assert store.get("r1").status == "completed"
        assert told() == 0
        store.start(quick, run_id="r2")
        store.decide("r2", "ask", ANN)
        assert told() == 1  # the control


def test_a_watching_sweep_goes_on_after_a_run_that_it_cannot_go_on_with(
    store: RunStore, platform: Slow, fresh_database: str
) -> None:
    named = compile_flow(
        flow_of(start(port("topic", default="x")), api("first", data={"key": "{{ KEY }}"}), end()),
        platform=platform,
        env={"KEY": "k"},
    )
    with RunStore.open(fresh_database, env={"KEY": "k"}) as other:
        other.create(named, run_id="lacks")
    with watching(store, workers=1) as swept:
        wait_for(lambda: len(swept) == 1)
        store.create(gated(platform, "quick"), run_id="r1")
        wait_for(lambda: len(swept) == 2)
    assert [(run.run_id, bool(run.problem)) for run in swept] == [("lacks", True), ("r1", False)]
    # Left alone by nobody for it.
    with RunStore.open(fresh_database, env={"KEY": "k"}) as other:
        assert [run.status for run in other.sweep(grace=0.0)] == ["completed"]


def test_a_run_that_was_taken_and_not_claimed_is_not_kept_from_a_person(
    store: RunStore, platform: Slow
) -> None:
    store.start(gated(platform, "quick"), run_id="r1")
    store.decide("r1", "ask", ANN)
    scope = due_runs.DueScope(grace=0.0)
    with store.database.connection() as rows:
        taken = due_runs.take_due_run(rows, scope)
        assert isinstance(taken, due_runs.DueRun)
        assert due_runs.take_due_run(rows, scope) == "none"
    assert store.sweep(grace=0.0) == []
    assert store.work("r1", wait=0.0).status == "completed"


def share(dsn: str, runs: int, folder: Path, seconds: float) -> int:
    """Statements that claim, of four processes that sweep so many new runs at once.

    seconds: how long a run that is taken is kept from others.
    """
    flow = compile_flow(flow_of(start(), gate("ask"), end()), platform=SimulatedPlatform())
    with RunStore.open(dsn) as store:
        for number in range(runs):
            store.create(flow, run_id=f"r{number}")
    together = FORKED.Barrier(4)
    names = [f"p{number}" for number in range(4)]
    processes: list[Any] = [
        FORKED.Process(
            target=sweep_and_count, args=(dsn, str(folder), name, runs, seconds, together)
        )
        for name in names
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    counted = [[int(n) for n in (folder / name).read_text().split()] for name in names]
    assert sum(done for _, done in counted) >= runs
    return sum(claims for claims, _ in counted)


def test_processes_that_sweep_at_once_claim_each_run_once(
    fresh_database: str, tmp_path: Path
) -> None:
    runs = tries(60, 1_000)
    claims = share(fresh_database, runs, tmp_path, due_runs.OFFER_SECONDS)
    assert claims <= runs * 1.05
    with RunStore.open(fresh_database) as store:
        assert {(run.status, run.attempts) for run in store.list(limit=runs)} == {("waiting", 1)}


def test_processes_to_which_no_run_is_offered_claim_some_twice(
    fresh_database: str, tmp_path: Path
) -> None:
    """The control: what each takes is taken by others too."""
    assert share(fresh_database, 60, tmp_path, 0.0) > 60 * 1.05


def _listens(store: RunStore) -> bool:
    with store.database.connection() as rows:
        found = rows.execute(
            "select count(*) as n from pg_stat_activity"
            " where query = 'listen oasflow_due' and datname = current_database()"
        ).fetchone()
    return found is not None and found["n"] == 1


@contextmanager
def _listening(store: RunStore) -> Iterator[Any]:
    """How often the channel of what is due was told until now."""
    with psycopg.connect(store.database.dsn, autocommit=True) as own:
        own.execute("listen oasflow_due")

        def told() -> int:
            own.execute("select 1")  # what was committed before is delivered with it
            return len(list(own.notifies(timeout=0)))

        yield told

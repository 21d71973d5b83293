"""Processes that end in order, again and again: no run fails by it, and with enough grace no call is made twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import RunStore
from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.store import RetryPolicy
from tests.effort import tries
from tests.postgres.test_local import short_folder
from tests.store.work import ending
from tests.store.work.ending import WAYS, Noted, count_calls, make_flow
from tests.store.work.stopped_worker import PATIENCE
from tests.store.work.test_restarts import restart
from tests.warm import FORKED

ENDS = tries(15, 200)
CALLS = 10
"""Of a run that is ended once."""
LONG_CALLS = tries(40, 200)
REDEPLOYS = tries(8, 60)
RUNS = tries(30, 300)
RESTARTS = tries(2, 20)
CUTS = tries(20, 300)
WORKERS = 3


def choose_seed() -> int:
    """Printed, so that a failure can be had again."""
    seed = int(os.environ.get("OASFLOW_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"seed {seed} (OASFLOW_TEST_SEED)")
    return seed


@pytest.fixture
def store(fresh_database: str, tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=Noted(str(tmp_path / "unused"))) as opened:
        yield opened


def begin(work: Callable[..., None], dsn: str, file: Path, run_id: str, after: int) -> Any:
    process: Any = FORKED.Process(target=work, args=(dsn, str(file), run_id, after))
    process.start()
    return process


def wait_until(is_so: Callable[[], bool], process: Any) -> None:
    """Or until the process has ended."""
    deadline = time.monotonic() + PATIENCE
    while process.is_alive() and not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def end_once(dsn: str, file: Path, run_id: str, way: str, after: int) -> None:
    """Work on the run in a process of its own, which ends once so many calls have begun in it."""
    work, sent = WAYS[way]
    process = begin(work, dsn, file, run_id, after)
    if sent is not None:
        ready = file.with_name(f"{file.name}.ready")
        wait_until(lambda: ready.exists() and sum(count_calls(file).values()) >= after, process)
        if process.is_alive():
            os.kill(process.pid, sent)
    process.join(PATIENCE)
    assert process.exitcode is not None, way


def look_at_end(store: RunStore, file: Path, run_id: str, *, had_grace: bool) -> int:
    """How many calls were made twice, once the run has been gone on with to its end."""
    run = store.get(run_id)
    assert (run.status, run.failures) != ("failed", 1), run.error
    assert run.status in {"running", "completed"}, run.error
    flow = make_flow(CALLS, Noted(str(file)))
    if run.status != "completed":
        run = store.work(run_id, flow=flow)
    assert run.status == "completed"
    calls = count_calls(file)
    again = sum(calls.values()) - len(calls)
    assert len(calls) == CALLS
    assert again <= (0 if had_grace else 1), f"{again} calls were made again"
    return again


def test_no_run_fails_by_the_end_of_its_process(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    chance = random.Random(choose_seed())
    ways = [[*WAYS][number % len(WAYS)] for number in range(ENDS)]
    again = dict.fromkeys(WAYS, 0)
    for number, way in enumerate(ways):
        run_id, file = f"r{number}", tmp_path / f"calls{number}"
        store.create(make_flow(CALLS, Noted(str(file))), run_id=run_id)
        end_once(fresh_database, file, run_id, way, chance.randrange(1, CALLS))
        again[way] += look_at_end(store, file, run_id, had_grace="drain" in way)
    print(f"{ENDS} ends, 0 failed; calls made again: {again}")


def test_an_end_that_fails_its_run_is_found(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    # Control: the same look at a run whose process took its own end for a failure.
    file = tmp_path / "calls"
    store.create(make_flow(CALLS, Noted(str(file))), run_id="r1")
    begin(ending.fail_at_the_end, fresh_database, file, "r1", 2).join(PATIENCE)
    with pytest.raises(AssertionError):
        look_at_end(store, file, "r1", had_grace=False)


def test_a_call_that_is_made_again_is_found(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    # Control: the same look at a run whose process ended in a call, without any grace.
    file = tmp_path / "calls"
    store.create(make_flow(CALLS, Noted(str(file))), run_id="r1")
    begin(ending.end_in_a_call, fresh_database, file, "r1", 2).join(PATIENCE)
    with pytest.raises(AssertionError, match="made again"):
        look_at_end(store, file, "r1", had_grace=True)


# ------------------------------------------------------------------ one long run, many deploys


def redeploy(dsn: str, file: Path, chance: random.Random, *, sent: int) -> None:
    """A worker that is ended after a few calls."""
    ready = file.with_name(f"{file.name}.ready")
    ready.unlink(missing_ok=True)
    wanted = sum(count_calls(file).values()) + chance.randrange(1, 5)
    worker = begin(ending.sweep_until_drained, dsn, file, "", 0)
    wait_until(
        lambda: (
            ready.exists()
            and (sum(count_calls(file).values()) >= wanted or len(count_calls(file)) == LONG_CALLS)
        ),
        worker,
    )
    os.kill(worker.pid, sent)
    worker.join(PATIENCE)
    assert worker.exitcode is not None


def test_a_long_run_completes_under_many_redeploys(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    chance, file = random.Random(choose_seed()), tmp_path / "calls"
    store.create(make_flow(LONG_CALLS, Noted(str(file))), run_id="r1")
    for _ in range(REDEPLOYS):
        redeploy(fresh_database, file, chance, sent=signal.SIGTERM)
        run = store.get("r1")
        assert (run.status, run.failures) in {("running", 0), ("completed", 0)}, run.error
    run = store.work("r1", flow=make_flow(LONG_CALLS, Noted(str(file))))
    calls = count_calls(file)
    assert (run.status, len(calls), set(calls.values())) == ("completed", LONG_CALLS, {1})
    print(f"{LONG_CALLS} calls, {REDEPLOYS} redeploys, {run.attempts} activations, 0 calls again")


def test_workers_that_are_killed_without_progress_are_a_failure(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    # Control: deaths do count, and the same run would be a dead letter.
    file = tmp_path / "calls"
    store.create(make_flow(CALLS, Noted(str(file))), run_id="r1")
    for _ in range(2):
        begin(ending.end_in_a_call, fresh_database, file, "r1", 1).join(PATIENCE)
    with RunStore.open(
        fresh_database, platform=Noted(str(file)), retries=RetryPolicy(most=1)
    ) as strict:
        wait_for_sweep(strict)
        assert strict.get("r1").status == "failed"


def wait_for_sweep(store: RunStore) -> None:
    """Until the server has noticed that the worker died."""
    deadline = time.monotonic() + PATIENCE
    while not store.sweep(grace=0.0):
        assert time.monotonic() < deadline
        time.sleep(0.01)


# ------------------------------------------------------------------ a database that is not well


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with short_folder() as folder:
        made = LocalServer(folder / "pg")
        made.start()
        yield made
        made.stop()


def cut_connections(server: LocalServer, chance: random.Random, over: threading.Event) -> int:
    """End connections of workers one by one, while others restart the database; how many."""
    done = 0
    while done < CUTS and not over.is_set():
        try:
            with psycopg.connect(server.superuser_dsn(), autocommit=True) as rows:
                while done < CUTS and not over.is_set():
                    found = rows.execute(
                        "select pid from pg_stat_activity where application_name = 'oasflow'"
                    ).fetchall()
                    if found:
                        rows.execute("select pg_terminate_backend(%s)", [chance.choice(found)[0]])
                        done += 1
                    over.wait(0.02)
        except (psycopg.Error, OSError):
            over.wait(0.05)
    return done


def list_dead_letters(store: RunStore) -> list[Any]:
    return [run.error for run in store.list(status="failed", limit=1000) if run.retry_at is None]


def test_no_run_is_a_dead_letter_after_bad_days_of_the_database(
    server: LocalServer, tmp_path: Path
) -> None:
    chance, file, over = random.Random(choose_seed()), tmp_path / "calls", threading.Event()
    flow = make_flow(3, Noted(str(file)))
    with RunStore.open(server.dsn(), platform=flow.platform) as store:
        for number in range(RUNS):
            store.create(flow, run_id=f"r{number}")
    workers = [begin(ending.sweep_for_ever, server.dsn(), file, "", 0) for _ in range(WORKERS)]
    cuts: list[int] = []
    cutter = threading.Thread(target=lambda: cuts.append(cut_connections(server, chance, over)))
    cutter.start()
    try:
        for number in range(RESTARTS):
            wanted = RUNS * 3 * (number + 1) // (RESTARTS + 2)
            wait_until(lambda wanted=wanted: len(count_calls(file)) >= wanted, workers[0])
            restart(server, kills=number % 2 == 1)
        cutter.join(PATIENCE)
        over.set()
        cutter.join(PATIENCE)
        with RunStore.open(server.dsn()) as store:
            deadline = time.monotonic() + 4 * PATIENCE
            while len(store.list(status="completed", limit=1000)) < RUNS:
                assert list_dead_letters(store) == []
                assert time.monotonic() < deadline
                time.sleep(0.2)
            most = max(run.failures for run in store.list(limit=1000))
    finally:
        over.set()
        for worker in workers:
            worker.kill()
            worker.join(PATIENCE)
    calls = count_calls(file)
    assert len(calls) == RUNS * 3
    again = sum(calls.values()) - len(calls)
    print(
        f"{RUNS} runs, {RESTARTS} restarts, {cuts[0]} cuts: 0 dead letters, at most {most} failures "
        f"in a row, {again} calls made again under their keys"
    )


def test_a_dead_letter_is_found(store: RunStore, fresh_database: str, tmp_path: Path) -> None:
    # Control: the same look after a run failed for good.
    file = tmp_path / "calls"
    store.create(make_flow(3, Noted(str(file))), run_id="r1")
    begin(ending.end_in_a_call, fresh_database, file, "r1", 1).join(PATIENCE)
    with RunStore.open(
        fresh_database, platform=Noted(str(file)), retries=RetryPolicy(most=1)
    ) as strict:
        wait_for_sweep(strict)
    with pytest.raises(AssertionError):
        assert list_dead_letters(store) == []

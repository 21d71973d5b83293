"""Failed runs: what is tried again, when, how often, and when it takes a person."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import StoreUnreachable
from cinatra_sdk.outside.http_calls.protocol import PlatformResponseError, PlatformUnreachable
from cinatra_sdk.store.runs.retries import RetryPolicy
from tests.store.work.branches import Branches
from tests.store.work.stopped_worker import PATIENCE, Steps
from tests.warm import FORKED

ANN = Decision.approve(by="ann")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def failing(*errors: Exception) -> tuple[Steps, list[str]]:
    """A flow whose first call raises each of the errors in turn, then succeeds; and its calls."""
    left, calls = list(errors), []

    def does(name: str) -> str:
        calls.append(name)
        if left and name == "a":
            raise left.pop(0)
        return name

    return Steps(does), calls


def wait_of(store: RunStore, run: Any) -> timedelta:
    return run.retry_at - run.updated_at


@pytest.mark.parametrize(
    "error",
    [
        PlatformUnreachable("no connection", node="a"),
        PlatformResponseError("busy", node="a", status=503),
        PlatformResponseError("slowly", node="a", status=429),
        StoreUnreachable("no connection was free"),
    ],
    ids=["unreachable", "503", "429", "database"],
)
def test_a_transient_failure_is_tried_again_later(store: RunStore, error: Exception) -> None:
    flow, calls = failing(error)
    run = store.start(flow, run_id="r1")
    assert (run.status, run.failures) == ("failed", 1)
    assert timedelta(seconds=9) < wait_of(store, run) < timedelta(seconds=11)
    run = store.work("r1", flow=flow)
    assert (run.status, run.failures, run.retry_at) == ("completed", 0, None)
    assert calls == ["a", "a", "b", "c"]


@pytest.mark.parametrize(
    "error",
    [PlatformResponseError("no", node="a", status=400), ValueError("no")],
    ids=["400", "bug"],
)
def test_a_permanent_failure_waits_for_a_person_at_once(store: RunStore, error: Exception) -> None:
    run = store.start(failing(error)[0], run_id="r1")
    assert (run.status, run.failures, run.retry_at) == ("failed", 1, None)
    assert run.error is not None
    assert run.error["code"] != "attempts_exhausted"


def test_an_error_that_was_made_from_a_transient_one_is_transient(store: RunStore) -> None:
    error = ValueError("the node's own words")
    error.__cause__ = PlatformUnreachable("no connection", node="a")
    assert store.start(failing(error)[0], run_id="r1").retry_at is not None


def test_a_run_that_failed_five_times_is_a_dead_letter_until_it_is_resumed(store: RunStore) -> None:
    flow, _ = failing(*[PlatformUnreachable(f"no connection {n}", node="a") for n in range(6)])
    run = store.start(flow, run_id="r1")
    waits = []
    while run.retry_at is not None:
        waits.append(round(wait_of(store, run).total_seconds()))
        run = store.work("r1", flow=flow)
    assert waits == [10, 60, 300, 300]
    assert run.failures == 5
    assert run.error is not None
    assert (run.error["code"], run.error["cause"]) == ("attempts_exhausted", "platform_unreachable")
    assert "5 times in a row" in str(run.error["message"])
    assert "no connection 4" in str(run.error["message"])
    run = store.resume("r1", flow=flow)
    assert (run.failures, run.retry_at is None) == (1, False)
    assert store.resume("r1", flow=flow).status == "completed"


def test_a_stop_at_a_gate_ends_the_count(store: RunStore) -> None:
    left: list[Exception] = [PlatformUnreachable("a", node="a"), PlatformUnreachable("b", node="a")]

    def does(name: str) -> str:
        if left:
            raise left.pop()
        return name

    flow = Branches(("a", "b"), does=does)
    store.start(flow, run_id="r1")
    assert store.answer("r1", "a", ANN, flow=flow).failures == 1
    assert store.work("r1", flow=flow).failures == 2
    run = store.work("r1", flow=flow)
    assert (run.status, run.failures) == ("waiting", 0)


def test_a_host_says_what_is_tried_again(fresh_database: str) -> None:
    policy = RetryPolicy(transient=(), permanent=(0.0, 7.0), most=3)
    with RunStore.open(fresh_database, retries=policy) as store:
        assert (
            store.start(failing(PlatformUnreachable("x", node="a"))[0], run_id="r1").retry_at
            is None
        )
        flow, _ = failing(*[ValueError(n) for n in range(3)])
        run = store.start(flow, run_id="r2")
        assert wait_of(store, run) < timedelta(seconds=1)
        run = store.work("r2", flow=flow)
        assert round(wait_of(store, run).total_seconds()) == 7
        run = store.work("r2", flow=flow)
        assert run.error is not None
        assert run.error["code"] == "attempts_exhausted"


@pytest.mark.parametrize("wrong", [{"most": 0}, {"transient": (-1.0,)}])
def test_a_policy_that_cannot_be_kept_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        RetryPolicy(**wrong)


def die(dsn: str, run_id: str) -> None:
    def does(_name: str) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    with RunStore.open(dsn) as store:
        store.work(run_id, flow=Steps(does))


def dying(dsn: str, run_id: str) -> Callable[[], None]:
    def act() -> None:
        process: Any = FORKED.Process(target=die, args=(dsn, run_id))
        process.start()
        process.join(PATIENCE)
        _wait_until_let_go(dsn)

    return act


def _wait_until_let_go(dsn: str) -> None:
    """The server gives back the locks of a dead process when it gets round to it."""
    held = """select from pg_locks where locktype = 'advisory' and
              database = (select oid from pg_database where datname = current_database())"""
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(dsn, autocommit=True) as connection:
        while connection.execute(held).fetchone() is not None:
            assert time.monotonic() < deadline, "the server holds the lock of a process that died"
            time.sleep(0.01)


def test_a_run_whose_processes_die_five_times_is_a_dead_letter(
    store: RunStore, fresh_database: str
) -> None:
    calls: list[str] = []

    def does(name: str) -> str:
        calls.append(name)
        return name

    store.create(Steps(), run_id="r1")
    act = dying(fresh_database, "r1")
    for deaths in range(5):
        assert store.get("r1").failures == max(0, deaths - 1)  # each is counted by the next worker
        act()
    run = store.work("r1", flow=Steps(does))
    assert (run.status, run.failures, run.retry_at, calls) == ("failed", 5, None, [])
    assert run.error is not None
    assert (run.error["code"], run.error["cause"]) == ("attempts_exhausted", "died")
    *_, told = store.events("r1", follow=False)
    assert (told.kind, told.name, told.data["code"]) == ("run", "failed", "attempts_exhausted")
    assert store.resume("r1", flow=Steps(does)).status == "completed"
    assert calls == ["a", "b", "c"]


def test_a_run_that_only_died_once_goes_on(store: RunStore, fresh_database: str) -> None:
    store.create(Steps(), run_id="r1")
    dying(fresh_database, "r1")()
    run = store.work("r1", flow=Steps())
    assert (run.status, run.failures) == ("completed", 0)

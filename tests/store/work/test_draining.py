"""A process that ends leaves its runs where they stand: due for others, nothing failed, nothing done twice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from cinatra_sdk import Decision, ProcessEnding, RunStore, StoreUnreachable
from cinatra_sdk.postgres.connection import read_options
from cinatra_sdk.runs import Run
from cinatra_sdk.store import RetryPolicy
from oas_compiler import compile_flow
from tests.flow.containers import around, checked_item, mapped
from tests.flows import end, flow_of, port, start, tool
from tests.store.work.stopped_worker import Steps
from tests.store.work.test_paused_runs import CHAIN, GATED, Calls

ANN = Decision.approve(by="ann")


@pytest.fixture
def platform() -> Calls:
    return Calls()


@pytest.fixture
def store(fresh_database: str, platform: Calls) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


@pytest.fixture
def other(fresh_database: str, platform: Calls) -> Iterator[RunStore]:
    """What another process has."""
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


def sweep(store: RunStore) -> list[tuple[str, str, str]]:
    return [(one.run_id, one.reason, one.status) for one in store.sweep(grace=0.0)]


def test_a_run_that_is_drained_ends_its_call_and_is_left_to_others(
    store: RunStore, other: RunStore, platform: Calls
) -> None:
    platform.at("a", lambda: store.drain(wait=0))
    run = store.start(compile_flow(CHAIN, platform=platform), run_id="r1")
    assert (run.status, run.failures, run.paused_at) == ("running", 0, None)
    assert platform.nodes == ["a"]
    assert sweep(other) == [("r1", "left", "completed")]
    assert (platform.nodes, other.get("r1").failures) == (["a", "b", "c"], 0)


def test_a_drained_store_takes_no_work_and_keeps_decisions(
    store: RunStore, other: RunStore, platform: Calls
) -> None:
    flow = compile_flow(GATED, platform=platform)
    store.start(flow, run_id="r1")
    store.create(flow, run_id="r2")
    assert store.drain()
    for work in (
        lambda: store.start(flow, run_id="r3"),
        lambda: store.work("r2"),
        lambda: store.resume("r2"),
        lambda: store.answer("r1", "ok", ANN),
    ):
        with pytest.raises(ProcessEnding, match="nothing is lost"):
            work()
    assert sorted(sweep(store)) == [("r1", "decided", ""), ("r2", "created", "")]
    assert {run.id for run in store.list()} == {"r1", "r2"}
    assert store.pause("r2").paused_at is not None  # everything else goes on
    assert sweep(other) == [("r1", "decided", "completed")]


def test_a_drain_waits_for_calls_as_long_as_it_is_told(store: RunStore, platform: Calls) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(60)

    platform.at("a", wait)
    told: list[Run] = []
    flow = compile_flow(CHAIN, platform=platform)
    worker = threading.Thread(target=lambda: told.append(store.start(flow, run_id="r1")))
    worker.start()
    begun.wait(60)
    assert not store.drain(wait=0.01)
    assert not asyncio.run(store.adrain(wait=0.01))
    threading.Timer(0.05, go_on.set).start()
    assert store.drain()
    worker.join(60)
    assert [run.status for run in told] == ["running"]
    assert platform.nodes == ["a"]


def test_branches_that_have_begun_are_ended_and_not_made_again(
    store: RunStore, other: RunStore, platform: Calls
) -> None:
    def within(_node: str) -> None:
        if len(platform.nodes) >= 10:
            store.drain(wait=0)

    platform.within = within
    doc = around(mapped(checked_item(gates=0)), items=40)
    store.start(compile_flow(doc, platform=platform), run_id="r1")
    assert len(platform.nodes) < 80
    platform.within = lambda _node: None
    assert sweep(other) == [("r1", "left", "completed")]
    assert (len(platform.made), set(platform.made.values())) == (80, {1})


def test_a_node_of_a_hand_written_graph_that_has_begun_is_ended(
    store: RunStore, other: RunStore
) -> None:
    done: list[str] = []

    def does(name: str) -> str:
        done.append(name)
        if name == "a":
            store.drain(wait=0)
        return name

    assert store.start(Steps(does), run_id="r1").status == "running"
    assert other.work("r1", flow=Steps(does)).status == "completed"
    assert done == ["a", "b", "c"]


# ------------------------------------------------------------------ what the database does


def cut(dsn: str) -> None:
    """End every connection but this one."""
    with psycopg.connect(dsn, autocommit=True) as rows:
        rows.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and pid <> pg_backend_pid()"""
        )


def wait_until_let_go(store: RunStore, run_id: str) -> None:
    """Until the process whose connection was cut off has said so itself."""
    for _ in range(600):
        with store.database.connection() as rows:
            row: Any = rows.execute(
                "select worker from work where run_id = %s", [run_id]
            ).fetchone()
        if not row["worker"]:
            return
        threading.Event().wait(0.1)
    raise AssertionError("the run is still its worker's")


@pytest.mark.own_session("ends the connections of workers at the server")
def test_connections_that_are_cut_off_count_as_no_death(
    store: RunStore, fresh_database: str
) -> None:
    flow = Steps(lambda _name: cut(fresh_database))
    store.create(flow, run_id="r1")
    for _ in range(7):  # more often than a run may die
        with pytest.raises(StoreUnreachable):
            store.work("r1", flow=flow)
        wait_until_let_go(store, "r1")
        assert store.get("r1").failures == 0
    run = store.work("r1", flow=Steps())
    assert (run.status, run.failures) == ("completed", 0)


@pytest.mark.own_session("ends the connections of workers at the server")
def test_a_worker_that_says_nothing_of_its_cut_connection_has_died(
    store: RunStore, platform: Calls, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The control of the test above.
    from cinatra_sdk.store.work.claims import Heart

    monkeypatch.setattr(Heart, "let_go", lambda *_given: None)
    store.create(compile_flow(CHAIN, platform=platform), run_id="r1")
    platform.at("a", lambda: cut(fresh_database))
    with pytest.raises(StoreUnreachable):
        store.work("r1")
    with store._claims.claim("r1", wait=30) as (_, claim):
        assert claim.row["died"]


@pytest.mark.own_session("restarts the server")
def test_a_restart_of_the_database_counts_as_no_death(
    fresh_database: str, platform: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cinatra_sdk.store.work.claims import Heart

    monkeypatch.setattr(Heart, "let_go", lambda *_given: None)  # its worker died with the database
    with RunStore.open(fresh_database, platform=platform) as store:
        store.create(compile_flow(CHAIN, platform=platform), run_id="r1")
        platform.at("a", lambda: cut(fresh_database))
        with pytest.raises(StoreUnreachable):
            store.work("r1")
        with store.database.connection() as rows:  # as long ago as before the last restart
            rows.execute("update work set claimed_at = pg_postmaster_start_time() - interval '1 s'")
        assert store.work("r1").failures == 0


@pytest.mark.own_session("the pooler has the idle sessions")
def test_a_limit_on_idle_sessions_ends_no_call(
    superuser_database: str, fresh_database: str, platform: Calls
) -> None:
    with psycopg.connect(superuser_database, autocommit=True) as rows:
        rows.execute(
            "alter role oasflow in database " + quoted(rows) + " set idle_session_timeout = '200ms'"
        )
        try:
            with psycopg.connect(fresh_database, autocommit=True) as spoiled:
                # The control: others are cut off.
                threading.Event().wait(0.5)
                with pytest.raises(psycopg.OperationalError):
                    spoiled.execute("select 1")
            with RunStore.open(fresh_database, platform=platform) as store:
                platform.at("a", lambda: threading.Event().wait(0.5))
                run = store.start(compile_flow(CHAIN, platform=platform), run_id="r1")
                assert (run.status, run.attempts) == ("completed", 1)
        finally:
            rows.execute("alter role oasflow in database " + quoted(rows) + " reset all")


def quoted(rows: Any) -> str:
    return str(rows.execute("select quote_ident(current_database())").fetchone()[0])


# ------------------------------------------------------------------ which errors are tried again


class OwnError(Exception):
    """Of the host's code."""


class OwnErrorBelow(OwnError):
    """Derived from it."""


def tool_flow() -> Any:
    return flow_of(start(), tool("work", "work", [], [port("o")]), end())


@pytest.mark.parametrize(
    ("raised", "is_tried_again"),
    [(OwnErrorBelow("busy"), True), (ValueError("a bug"), False), (TimeoutError("slow"), False)],
    ids=["named by the host", "a bug", "named as permanent"],
)
def test_a_host_says_by_class_which_errors_of_its_code_are_tried_again(
    fresh_database: str, raised: Exception, is_tried_again: bool
) -> None:
    def work() -> str:
        raise raised

    policy = RetryPolicy(transient_errors=(OwnError,), permanent_errors=(TimeoutError,))
    flow = compile_flow(tool_flow(), tools={"work": work})
    with RunStore.open(fresh_database, retries=policy) as store:
        run = store.start(flow, run_id="r1")
        assert (run.status, run.retry_at is not None) == ("failed", is_tried_again)
        graph = store.start(Steps(lambda _name: work()), run_id="r2")
        assert (graph.status, graph.retry_at is not None) == ("failed", is_tried_again)
    with RunStore.open(fresh_database) as usual:
        # The control: without a word of the host, code that fails is not tried again.
        assert usual.start(flow, run_id="r3").retry_at is None


@pytest.mark.parametrize("wrong", [{"transient_errors": (1,)}, {"permanent_errors": [OSError]}])
def test_what_is_no_class_of_errors_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="no tuple of classes"):
        RetryPolicy(**wrong)


# ------------------------------------------------------------------ keepalives


def test_connections_are_kept_alive_unless_the_address_says_otherwise(fresh_database: str) -> None:
    usual = read_options(fresh_database)
    assert (usual["keepalives"], usual["keepalives_idle"], usual["keepalives_count"]) == (1, 30, 3)
    own = read_options(make_conninfo(fresh_database, keepalives_idle=7, tcp_user_timeout=1))
    assert "keepalives_idle" not in own
    assert "tcp_user_timeout" not in own
    assert own["keepalives_interval"] == 10
    with RunStore.open(make_conninfo(fresh_database, keepalives_idle=7)) as store:
        with store.database.connection() as rows:
            told = rows.info.get_parameters()
        assert (told["keepalives_idle"], told["keepalives_interval"]) == ("7", "10")

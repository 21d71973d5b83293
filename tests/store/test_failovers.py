"""A standby takes over: what it never had is listed, and nothing acknowledged is lost where one is demanded."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from cinatra_sdk import Decision, NotReplicated, RunStore
from cinatra_sdk.errors import InputInvalid, StoreError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.postgres.home import adopt, read_home
from cinatra_sdk.postgres.migration import migrate
from cinatra_sdk.store.evidence.reconciliation import list_receipts, read_receipts
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start
from tests.servers import Server, start_server, wait_for

GATED = flow_of(start(), gate("ask"), api("send"), end())
ANN = Decision.approve(by="ann")
APP = "app"


@pytest.fixture
def first() -> Iterator[Server]:
    with start_server() as server:
        server.execute("create database runs")
        migrate(server.dsn("runs"), app_role=APP)
        yield server


@pytest.fixture
def second(first: Server) -> Server:
    return first.make_standby(first.folder.parent / "second", name="second")


def dsn_of(server: Server) -> str:
    return server.dsn("runs", user=APP)


def cut_off(standby: Server) -> None:
    """It follows nobody any more."""
    standby.set(primary_conninfo="")
    wait_for(lambda: standby.execute("select 1 from pg_stat_wal_receiver") == [])


def take_over(first: Server, second: Server) -> None:
    first.stop("immediate")
    second.promote()


class Known:
    """What callers and receivers were told before a failover."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.decided: list[tuple[str, str]] = []

    def tell(self, **said: str) -> None:
        self.lines.append(json.dumps(said))


def begin(store: RunStore, name: str, known: Known | None) -> None:
    store.start(compile_flow(GATED), run_id=name)
    if known is not None:
        known.tell(run=name)


def approve(store: RunStore, name: str, known: Known | None) -> None:
    platform = SimulatedPlatform()
    with RunStore.open(store.database.dsn, platform=platform) as own:
        assert own.answer(name, "ask", ANN).status == "completed"
    if known is not None:
        known.tell(run=name, gate="ask")
        for call in platform.calls:
            known.tell(key=str(call.idempotency_key))


def test_what_an_asynchronous_standby_never_had_is_listed(first: Server, second: Server) -> None:
    known = Known()
    with RunStore.open(dsn_of(first), platform=SimulatedPlatform()) as store:
        for number in range(4):
            begin(store, f"kept-{number}", known)
        approve(store, "kept-0", known)
        first.catch_up()
        cut_off(second)
        for number in range(3):
            begin(store, f"lost-{number}", known)
        for name in ("kept-1", "kept-2", "lost-0"):
            approve(store, name, known)
    take_over(first, second)
    with RunStore.open(dsn_of(second), platform=SimulatedPlatform()) as store:
        found = store.reconcile(read_receipts(known.lines))
        assert found.home.was_taken_over
        assert (found.home.timeline, found.home.timeline_now) == (1, 2)
        assert not found.is_clean
        told = [(one.kind, one.run_id, one.name) for one in found.findings]
        assert [one for one in told if one[0] != "lost effect"] == [
            ("lost start", "lost-0", ""), ("lost start", "lost-1", ""), ("lost start", "lost-2", ""),
            ("lost decision", "kept-1", "ask"), ("lost decision", "kept-2", "ask"),
            ("lost decision", "lost-0", "ask"),
        ]  # fmt: skip
        keys = {one[2] for one in told if one[0] == "lost effect"}
        assert len(keys) == 3, "mails that have no approval left"
        assert keys < {json.loads(line).get("key") for line in known.lines}

        # The server before knows the same, with the runs of the calls, as soon as it runs.
        first.start()
        against = store.reconcile(list_receipts(dsn_of(first)))
        assert {(one.kind, one.run_id) for one in against.findings} == {
            *((one[0], one[1]) for one in told if one[0] != "lost effect"),
            ("lost effect", "kept-1"), ("lost effect", "kept-2"), ("lost effect", "lost-0"),
        }  # fmt: skip
        assert {one.name for one in against.findings if one.kind == "lost effect"} == keys
        assert against.receipts == 7 + 4 + 4

        # The standby is of the same system: it goes on without being adopted, under the same keys.
        platform = SimulatedPlatform()
        with RunStore.open(dsn_of(second), platform=platform) as again:
            assert again.answer("kept-1", "ask", ANN).status == "completed"
        assert {str(call.idempotency_key) for call in platform.calls} < keys


def test_nothing_is_listed_where_the_standby_had_everything(first: Server, second: Server) -> None:
    # Control.
    known = Known()
    with RunStore.open(dsn_of(first), platform=SimulatedPlatform()) as store:
        begin(store, "r1", known)
        begin(store, "r2", known)
        approve(store, "r1", known)
        before = store.reconcile(read_receipts(known.lines))
        assert (before.is_clean, before.findings, before.receipts) == (True, (), 4)
    first.catch_up()
    take_over(first, second)
    with RunStore.open(dsn_of(second)) as store:
        found = store.reconcile(read_receipts(known.lines))
        assert (found.findings, found.receipts, found.is_clean) == ((), 4, False)
    adopt(second.dsn("runs"), by="ann")
    with connect(dsn_of(second)) as rows:
        assert not read_home(rows).was_taken_over, "somebody has looked"


def test_nothing_that_was_acknowledged_is_lost_where_a_standby_is_demanded(
    first: Server, second: Server
) -> None:
    """The server before is killed while four callers start runs and decide."""
    first.set(synchronous_standby_names="second")
    known = Known()
    enough = threading.Event()

    def call(number: int) -> None:
        with (
            suppress(StoreError),
            RunStore.open(
                dsn_of(first), platform=SimulatedPlatform(), durability="standby"
            ) as store,
        ):
            for turn in range(1000):
                name = f"{number}-{turn}"
                begin(store, name, known)
                store.decide(name, "ask", ANN)
                known.tell(run=name, gate="ask")
                if len(known.lines) > 60:
                    enough.set()

    callers = [threading.Thread(target=call, args=(number,), daemon=True) for number in range(4)]
    for caller in callers:
        caller.start()
    assert enough.wait(120)
    take_over(first, second)
    for caller in callers:
        caller.join(120)
        assert not caller.is_alive()
    with RunStore.open(dsn_of(second)) as store:
        found = store.reconcile(read_receipts(known.lines))
        assert found.receipts == len(known.lines) > 60
        assert [one for one in found.findings if one.kind.startswith("lost")] == []


def test_without_a_standby_nothing_is_acknowledged(first: Server, second: Server) -> None:
    with pytest.raises(NotReplicated, match="synchronous_standby_names is empty") as refused:
        RunStore.open(dsn_of(first), durability="standby")
    assert refused.value.code == "not_replicated"
    first.set(synchronous_standby_names="second")
    weak = make_conninfo(dsn_of(first), options="-c synchronous_commit=remote_write")
    with pytest.raises(NotReplicated, match="synchronous_commit is remote_write"):
        RunStore.open(weak, durability="standby")
    with RunStore.open(dsn_of(first), platform=SimulatedPlatform(), durability="standby") as store:
        store.start(compile_flow(GATED), run_id="r1")
        # As programs do that keep a database going without its standby.
        first.set(synchronous_standby_names="")
        refuse(lambda: store.decide("r1", "ask", ANN), "no synchronous standby is named")
        refuse(lambda: store.start(compile_flow(GATED), run_id="r2"), "is named")
        refuse(lambda: store.stop("r1", by="ann"), "is named")
        first.set(synchronous_standby_names="second")
        second.stop()
        wait_for(lambda: first.execute("select 1 from pg_stat_replication") == [])
        refuse(lambda: store.decide("r1", "ask", ANN), "no standby is connected")
        assert (store.decisions("r1"), [run.id for run in store.list()]) == ([], ["r1"])
        # Control: whoever demands nothing is not refused.
        first.set(synchronous_standby_names="")
        with RunStore.open(dsn_of(first), platform=SimulatedPlatform()) as other:
            assert other.answer("r1", "ask", ANN).status == "completed"


def refuse(act: Callable[[], object], why: str) -> None:
    with pytest.raises(NotReplicated, match=why) as refused:
        act()
    assert "nothing was written" in refused.value.message


@pytest.mark.usefixtures("second")
def test_a_wait_that_somebody_cancels_is_no_acknowledgement(first: Server) -> None:
    first.set(synchronous_standby_names="elsewhere")  # connected is another one
    problems: list[Exception] = []

    def call() -> None:
        try:
            with RunStore.open(
                dsn_of(first), platform=SimulatedPlatform(), durability="standby"
            ) as store:
                store.create(compile_flow(GATED), run_id="r1")
        except StoreError as error:
            problems.append(error)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    waits = "select pid from pg_stat_activity where wait_event = 'SyncRep'"
    deadline = threading.Event()
    while caller.is_alive() and not deadline.wait(0.05):
        for (pid,) in first.execute(waits):
            first.execute(f"select pg_cancel_backend({pid})")
    caller.join()
    (problem,) = problems
    assert isinstance(problem, NotReplicated)
    assert "the wait for the standby was cancelled" in problem.message
    here = "select run_id from oasflow.runs"
    assert first.execute(here, database="runs") == [("r1",)], "which the message says"


def test_the_demand_comes_from_the_environment_too(
    first: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "OASFLOW_DURABILITY", "standby")
    with pytest.raises(NotReplicated):
        RunStore.open(dsn_of(first))
    RunStore.open(dsn_of(first), durability="disk").close()
    monkeypatch.setitem(os.environ, "OASFLOW_DURABILITY", "paper")
    with pytest.raises(InputInvalid, match="no durability is called 'paper'"):
        RunStore.open(dsn_of(first))


def test_receipts_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    assert [one.kind for one in read_receipts(['{"run":"a"}', "", '{"key":"k","run":"a"}'])] == [
        "start", "effect",
    ]  # fmt: skip
    for line in (
        "x",
        "[]",
        "{}",
        '{"run": 1}',
        '{"gate": "g"}',
        '{"run":"a","gate":"g","key":"k"}',
    ):
        with pytest.raises(InputInvalid, match="line 2 of the receipts"):
            list(read_receipts(['{"run":"a"}', line]))

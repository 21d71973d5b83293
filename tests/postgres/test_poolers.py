"""PgBouncer between a store and its server: nothing is left in a session, and nothing is lost with one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cinatra_sdk import Decision, RunBusy, RunStore, SimulatedPlatform, StoreError
from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.postgres import notifications
from cinatra_sdk.postgres.connection import (
    LATER,
    OURS,
    USUAL,
    connect,
    is_pooled,
    list_settings,
)
from cinatra_sdk.postgres.migration import migrate
from cinatra_sdk.postgres.notifications import Listening
from cinatra_sdk.postgres.pooler import BEGIN, list_statements, write_ini, write_sql
from cinatra_sdk.store.health import examine
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flows import api, end, flow_of, gate, start
from tests.poolers import SWALLOWS, Pooler

SMALL = 2
"""Connections to the server: fewer than a store has itself."""
GATED = flow_of(start(), gate("ask"), api("send"), end())


@pytest.fixture
def direct(databases: Databases) -> Iterator[str]:
    """A database at the server's own address, whatever stands before that of other tests."""
    dsn = databases.take()
    try:
        yield dsn
    finally:
        databases.give_back(dsn)


@pytest.fixture(scope="module")
def transactions(local_server: LocalServer) -> Iterator[Pooler]:
    with Pooler.before(local_server, mode="transaction", size=SMALL) as pooler:
        yield pooler


@pytest.fixture(scope="module")
def bare(local_server: LocalServer) -> Iterator[Pooler]:
    """A pooler that nobody has told anything."""
    with Pooler.before(local_server, mode="transaction", size=SMALL, query="") as pooler:
        yield pooler


def count_session_state(dsn: str) -> tuple[int, int, int]:
    """Through the pooler, in each of its connections to the server: locks, statements, channels."""
    most = (0, 0, 0)
    with (
        psycopg.connect(dsn, prepare_threshold=None) as a,
        psycopg.connect(dsn, prepare_threshold=None) as b,
    ):
        seen = set()
        for one in (a, b):  # at once, so that each has one of the two
            row = one.execute(
                "select pg_backend_pid(), (select count(*) from pg_locks where locktype = 'advisory'"
                " and database = (select oid from pg_database where datname = current_database())),"
                " (select count(*) from pg_prepared_statements), (select count(*) from"
                " pg_listening_channels())"
            ).fetchone()
            assert row is not None
            seen.add(row[0])
            most = max(most[0], row[1]), max(most[1], row[2]), max(most[2], row[3])
        assert len(seen) == SMALL
    return most


def test_many_runs_go_through_two_connections_and_leave_nothing_in_them(
    direct: str, transactions: Pooler
) -> None:
    through = transactions.address_of(direct)
    failed: list[BaseException] = []
    with RunStore.open(through, platform=SimulatedPlatform()) as store:
        flow = compile_flow(GATED, platform=SimulatedPlatform())

        def carry(number: int) -> None:
            try:
                for turn in range(3):
                    run_id = f"r{number}-{turn}"
                    assert store.start(flow, {}, run_id).status == "waiting"
                    done = store.answer(run_id, "ask", Decision.approve(by="ann"))
                    assert done.status == "completed"
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=carry, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert count_session_state(through) == (0, 0, 0)
    with psycopg.connect(through, autocommit=True, prepare_threshold=None) as plain:
        # The control: what a client does to its session is found, and meets the next client.
        plain.execute("select pg_advisory_lock(1)")
        plain.execute("prepare left_behind as select 1")
        plain.execute("listen left_behind")
    assert count_session_state(through) == (1, 1, 1)


def test_whoever_dies_behind_a_pooler_has_the_run_until_the_lease_is_over(
    direct: str, transactions: Pooler
) -> None:
    through = transactions.address_of(direct)
    flow = compile_flow(GATED, platform=SimulatedPlatform())
    with RunStore.open(through, lease=7200.0) as store, connect(direct) as rows:
        store.create(flow, run_id="r1")
        with connect(through) as dying:
            first = store._claims._take(dying, "r1", 0, None)
        row = rows.execute("select backend_pid from oasflow.work").fetchone()
        assert row == {"backend_pid": None}
        with (
            RunStore.open(direct) as other,
            pytest.raises(RunBusy),
            other._claims.claim("r1", wait=0),
        ):
            pass
        with pytest.raises(RunBusy), store._claims.claim("r1", wait=0):
            pass
        rows.execute("update oasflow.work set lease_until = clock_timestamp()")
        assert store.work("r1", flow=flow).status == "waiting"
        assert first.fence < _fence(rows)


def _fence(rows: Any) -> int:
    found: int = rows.execute("select fence from oasflow.work").fetchone()["fence"]
    return found


def test_two_that_want_one_run_behind_a_pooler_do_not_both_have_it(
    direct: str, transactions: Pooler
) -> None:
    """A lock of a session would let them: both may be lent the connection that holds it."""
    through = transactions.address_of(direct)
    with RunStore.open(through) as store:
        store.create(compile_flow(GATED), run_id="r1")
        with (
            store._claims.claim("r1", wait=0),
            pytest.raises(RunBusy),
            store._claims.claim("r1", wait=0),
        ):
            pass
    plain = {"autocommit": True, "prepare_threshold": None}
    with psycopg.connect(through, **plain) as a, psycopg.connect(through, **plain) as b:  # type: ignore[arg-type]
        # The control: one after the other they are lent the same connection.
        got = [one.execute("select pg_try_advisory_lock(7)").fetchone() for one in (a, b)]
        assert got == [(True,), (True,)]
        a.execute("select pg_advisory_unlock_all()")


def test_a_pooler_that_was_told_nothing_is_refused_by_name(direct: str, bare: Pooler) -> None:
    with pytest.raises(StoreError) as caught:
        RunStore.open(bare.address_of(direct))
    told = str(caught.value)
    assert "reached through a pooler" in told
    assert "search_path" in told
    assert "oasflow db pooler" in told
    assert str(conninfo_to_dict(direct)["password"]) not in told


def test_a_pooler_that_swallows_options_is_noticed(direct: str, local_server: LocalServer) -> None:
    with Pooler.before(local_server, mode="transaction", query="", settings=SWALLOWS) as pooler:
        with psycopg.connect(pooler.address_of(direct), options="-c jit=off") as plain:
            assert not plain.closed  # the control: the connection is made, and they are gone
        with pytest.raises(StoreError, match="reached through a pooler"):
            RunStore.open(pooler.address_of(direct))
    with (
        Pooler.before(local_server, mode="transaction", settings=SWALLOWS) as pooler,
        connect(pooler.address_of(direct)) as connection,
    ):
        assert is_pooled(connection)


def test_what_an_address_demands_is_not_forgotten_on_the_way(
    direct: str, transactions: Pooler
) -> None:
    through = transactions.address_of(direct)
    with pytest.raises(StoreError, match=r"settings that oasflow needs: oasflow\.durability"):
        RunStore.open(through, durability="standby")
    slow = make_conninfo(through, options="-c statement_timeout=7s -c oasflow.secret=hunter2")
    with pytest.raises(StoreError) as caught:
        connect(slow)
    assert "statement_timeout" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    same = make_conninfo(through, options=r"-cjit=off --TimeZone=UTC")
    with connect(same) as connection:  # the control: what is so anyway may be said
        assert is_pooled(connection)


def test_in_session_mode_the_settings_of_the_role_count(
    direct: str, databases: Databases, local_server: LocalServer
) -> None:
    """Between two sessions PgBouncer discards what `connect_query` has set."""
    parts = conninfo_to_dict(direct)
    with Pooler.before(local_server, mode="session", size=SMALL) as pooler:
        through = pooler.address_of(direct)
        with pytest.raises(StoreError, match="search_path"):  # the control
            _connect_often(through)
    with psycopg.connect(databases.as_superuser(direct), autocommit=True) as admin:
        for statement in list_statements(str(parts["user"]), str(parts["dbname"])):
            admin.execute(statement)
    with Pooler.before(local_server, mode="session", size=4, query="") as pooler:
        through = pooler.address_of(direct)
        _connect_often(through)
        with RunStore.open(through, platform=SimulatedPlatform()) as store:
            flow = compile_flow(GATED, platform=SimulatedPlatform())
            assert store.start(flow, {}, "r1").status == "waiting"
            done = store.answer("r1", "ask", Decision.approve(by="ann"))
            assert done.status == "completed"
    with connect(direct) as connection:
        from cinatra_sdk.postgres.role_rights import look

        assert look(connection).own_settings == (), "they are not told of as the role's own"


def _connect_often(dsn: str) -> None:
    for _ in range(5):
        connect(dsn).close()


def test_the_function_sets_what_a_connection_of_ours_begins_with(direct: str) -> None:
    asked = {**USUAL, **OURS, **LATER}
    compare = "select current_setting(%s), set_config(%s, %s, true)"
    with psycopg.connect(
        direct, autocommit=True, options="-c synchronous_commit=off -c jit=on -c DateStyle=German"
    ) as connection:

        def list_others() -> set[str]:
            found = set()
            for name, value in asked.items():
                row = connection.execute(compare, (name, name, value)).fetchone()
                assert row is not None
                found |= {name} if row[0] != row[1] else set()
            return found

        before = list_others()
        assert before >= {"search_path", "synchronous_commit", "jit", "DateStyle"}  # the control
        connection.execute(BEGIN.encode())
        assert list_others() == set()
        text = connection.execute(
            "select prosrc from pg_proc where proname = 'oasflow_begin_session'"
        ).fetchone()
        assert text is not None
        assert [name for name in asked if f"set_config('{name}', " not in text[0]] == []


def test_tables_are_not_migrated_through_a_pooler(
    direct: str, databases: Databases, transactions: Pooler
) -> None:
    owner = databases.as_owner(direct)
    with pytest.raises(
        StoreError, match="through a pooler, through which its tables cannot"
    ) as caught:
        migrate(transactions.address_of(owner))
    assert "the server's own address" in str(caught.value)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("delete from oasflow.schema_versions where version = '024'")
        try:
            with pytest.raises(
                StoreError, match="through a pooler, through which its tables cannot"
            ):
                RunStore.open(transactions.address_of(owner))
        finally:
            connection.execute("insert into oasflow.schema_versions (version) values ('024')")
    migrate(owner)  # the control


def test_an_examination_tells_of_the_pooler_and_leaves_its_connections_writable(
    direct: str, transactions: Pooler
) -> None:
    through = transactions.address_of(direct)
    assert examine(through).is_pooled
    assert not examine(direct).is_pooled
    for _ in range(4):
        with connect(through) as connection:
            found = connection.execute("show default_transaction_read_only").fetchone()
            assert found == {"default_transaction_read_only": "off"}


def test_followers_look_by_themselves_behind_a_pooler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/nowhere"
    heard = Listening(nowhere, is_pooled=True)
    with heard.subscribe("r1") as subscriber:
        assert subscriber.wait(60)
    heard.close()
    monkeypatch.setattr(notifications, "POOLED", 1e9)
    deaf = Listening(nowhere, is_pooled=True)  # the control: nothing else wakes them
    with deaf.subscribe("r1") as subscriber:
        assert not subscriber.wait(1.5)
    deaf.close()


def test_the_lines_for_a_pooler_name_the_database_and_no_password() -> None:
    text = write_ini("postgresql://app:s3cret@db.example.org:5433/runs")
    assert "runs = host=db.example.org port=5433 dbname=runs connect_query=" in text
    assert BEGIN in text
    assert "s3cret" not in text
    assert len(BEGIN) < 500, "PgBouncer takes no more"
    text = write_sql("postgresql://app:s3cret@db.example.org/ru%22ns")
    assert 'alter role "app" in database "ru""ns" set "search_path" = \'oasflow\';' in text
    assert "s3cret" not in text
    assert "NAME = host=HOST" in write_ini()
    with pytest.raises(StoreError, match="cannot be read") as caught:
        write_ini("s3cret=:::")
    assert "s3cret" not in str(caught.value)


def test_the_settings_of_an_address_are_read_as_the_server_reads_them() -> None:
    address = make_conninfo("dbname=x", options=r"-c a.b=x\ y --work-mem=4MB -cjit=on")
    found = list_settings(address)
    assert (found["a.b"], found["work_mem"], found["jit"]) == ("x y", "4MB", "on")
    assert found["search_path"] == "oasflow"

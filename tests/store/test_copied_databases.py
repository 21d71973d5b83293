"""A copy of a database does nothing until somebody adopts it; a standby that takes over goes on."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cinatra_sdk import Decision, NotAdopted, RunStore
from cinatra_sdk.errors import AnswerInvalid, StoreError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.postgres.home import adopt, disown, read_home
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flows import api, end, flow_of, gate, start

GATED = flow_of(start(), gate("ask"), api("send"), end())
ANN = Decision.approve(by="ann")


@pytest.fixture
def clone(fresh_database: str, databases: Databases) -> Iterator[str]:
    """A copy of a database in which run `r1` waits, and `r2` has a decision that nobody carried out."""
    with RunStore.open(fresh_database, platform=SimulatedPlatform()) as store:
        for name in ("r1", "r2"):
            store.start(compile_flow(GATED), run_id=name)
        store.decide("r2", "ask", ANN)
    original = str(conninfo_to_dict(fresh_database)["dbname"])
    name = f"{original}_clone"
    with psycopg.connect(databases.url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s",
            (original,),
        )
        connection.execute(
            sql.SQL("create database {} template {}").format(
                sql.Identifier(name), sql.Identifier(original)
            )
        )
    dsn = make_conninfo(databases.app, dbname=name)
    yield dsn
    databases.drop(dsn)


def test_a_copy_is_read_and_does_nothing(clone: str, fresh_database: str) -> None:
    platform = SimulatedPlatform()
    with RunStore.open(clone, platform=platform) as copy:
        assert [run.id for run in copy.list()] == ["r2", "r1"]
        assert [gate.id for gate in copy.get("r1").waiting] == ["ask"]
        assert len(copy.decisions("r2")) == 1
        flow = compile_flow(GATED)
        for act in (
            lambda: copy.decide("r1", "ask", ANN),
            lambda: copy.answer("r1", "ask", ANN),
            lambda: copy.work("r2"),
            lambda: copy.resume("r2"),
            lambda: copy.create(flow, run_id="r3"),
            lambda: copy.start(flow, run_id="r4"),
        ):
            with pytest.raises(NotAdopted, match="is a copy of another one") as refused:
                act()
            assert refused.value.code == "not_adopted"
            assert "oasflow db adopt" in refused.value.hint
        (swept,) = copy.sweep()
        assert (swept.status, "is a copy" in swept.problem) == ("", True)
        assert [run.status for run in copy.list()] == ["waiting", "waiting"]
        assert copy.decisions("r1") == []
        assert copy.stop("r1", by="ann").status == "stopped", "which sends nothing"
    assert platform.calls == []
    # Control: the original goes on as before.
    with RunStore.open(fresh_database, platform=platform) as store:
        assert store.work("r2").status == "completed"
        assert store.answer("r1", "ask", ANN).status == "completed"
    assert len(platform.calls) == 2


def test_a_copy_that_is_adopted_goes_on(clone: str, databases: Databases) -> None:
    platform = SimulatedPlatform()
    with RunStore.open(clone, platform=platform) as copy:
        with pytest.raises(NotAdopted):
            copy.work("r2")
        found = adopt(databases.as_owner(clone), by="ann")
        assert (found.is_copy, found.why, found.by) == (False, "adopted", "ann")
        assert copy.work("r2").status == "completed", "also in a store that was open before"
    assert len(platform.calls) == 1


def test_a_database_that_is_disowned_does_nothing_until_it_is_adopted(
    fresh_database: str, owner_database: str
) -> None:
    with RunStore.open(fresh_database, platform=SimulatedPlatform()) as store:
        store.start(compile_flow(GATED), run_id="r1")
        assert disown(owner_database, by="ann").is_copy
        with pytest.raises(NotAdopted):
            store.answer("r1", "ask", ANN)
        assert not adopt(owner_database, by="ann").is_copy
        assert store.answer("r1", "ask", ANN).status == "completed"


def test_only_the_owner_of_the_tables_says_where_a_database_lives(
    fresh_database: str, owner_database: str
) -> None:
    with pytest.raises(StoreError, match="may not say where the database"):
        adopt(fresh_database, by="ann")
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with psycopg.connect(fresh_database) as connection, refused:
        connection.execute(
            "insert into oasflow.homes (database_oid, timeline, why) values (1, 1, 'adopted')"
        )
    with pytest.raises(AnswerInvalid, match="nobody is named"):
        adopt(owner_database, by=" ")


def test_what_a_database_knows_of_its_home_stays(owner_database: str) -> None:
    with psycopg.connect(owner_database, autocommit=True) as connection:
        for change in ("update oasflow.homes set database_oid = 1", "delete from oasflow.homes"):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="append-only"):
                connection.execute(change)
    with connect(owner_database) as rows:
        assert not read_home(rows).is_copy

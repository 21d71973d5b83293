"""A test never meets what another one left in its database."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.attachments.uploads import CachedFile
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.artifacts.object_store import ObjectContent, SavedObjects
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.evidence.governance_sources import StoredPacks
from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
from cinatra_sdk.store.flows.graph_flow import GraphFlow
from tests.databases import Databases, outline_of, shape_of
from tests.governance.packs import read_pack
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.lower.context_shelf import Shelf
from tests.slot_flows import declared
from tests.store import selecting
from tests.store.selecting import BRAND, World
from tests.wired_flows import wired

TABLES = "select tablename from pg_tables where schemaname = 'oasflow' order by 1"
WRITTEN_BY_SETUP = ["checkpoint_migrations", "homes", "schema_versions"]
PLAN = """
insert into oasflow.context_plans
    (token, org_id, parent_run_id, parent_package_name, slot_id, refs)
values (repeat('0', 64), 'o1', 'r1', 'p', 's', '[]')
"""
SETTLEMENT = """
insert into oasflow.runs (run_id, digest, input, lowering)
select 'settled', digest, '{}', 1 from oasflow.flows limit 1;
insert into oasflow.work (run_id) values ('settled');
insert into oasflow.effects (run_id, key, kind, status) values ('settled', 'k', 'http', 'begun');
update oasflow.effects set status = 'unknown' where run_id = 'settled';
update oasflow.effects set status = 'failed' where run_id = 'settled';
insert into oasflow.settlements (run_id, key, attempts, happened, settled_by)
values ('settled', 'k', 1, false, 'ann')
"""
ERASURE = "insert into oasflow.erasures (token, erased_by, changed) values ('x', 'dpo', '{}')"
ROWS = """
insert into oasflow.objects (id, type, owner_id, visibility)
select repeat(g::text, 20), 't', 'ann', 'org' from generate_series(1, {}) g
"""
OTHER_FUNCTION = """
create or replace function oasflow.open_visibilities(
    team_ids text[], project_ids text[], is_platform_admin boolean
) returns text[] language sql immutable as 'select team_ids'
"""


@pytest.fixture
def own(databases: Databases) -> Iterator[Databases]:
    """Databases of this test's own, on the server of all."""
    databases.give_back(databases.take())  # the template is there
    made = replace(databases, shape=databases.shape, free=[], made=0)
    yield made
    for dsn in made.free:
        made.drop(dsn)
    made.close()


def filled(dsn: str) -> list[str]:
    """The tables that have rows."""
    with psycopg.connect(dsn) as connection:
        names = [name for (name,) in connection.execute(TABLES)]
        first = sql.SQL("select 1 from oasflow.{} limit 1")
        found = (connection.execute(first.format(sql.Identifier(name))) for name in names)
        return [name for name, rows in zip(names, found, strict=True) if rows.fetchone()]


def tables(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as connection:
        return [name for (name,) in connection.execute(TABLES)]


def test_what_a_run_leaves_in_any_table_is_gone_in_the_next_test(
    own: Databases, tmp_path: Path
) -> None:
    dsn = own.take()
    assert filled(dsn) == WRITTEN_BY_SETUP
    flow = tmp_path / "oas.json"
    flow.write_text(json.dumps(wired(declared())))
    database = Database.open(dsn)
    Shelf(ArtifactStore(database)).fill(BRAND, BRAND)
    note = ObjectContent.of_json("@x/note", {})
    SavedObjects(database).save(note, org_id="acme", run_id="r1")
    attached = AttachmentStore(database)
    ref = attached.add("acme", [b"abc"], mime="text/plain", created_by="ann", max_bytes=3)
    attached.uploads.put(
        "acme", ref, "openai", CachedFile(provider_file_id="file-1"), timedelta(hours=1)
    )
    database.close()
    leave_governed_run(dsn, tmp_path / "refunds")
    selecting.until("the end", World(dsn, str(flow), str(tmp_path / "calls")), "r1")
    with psycopg.connect(dsn) as connection:
        connection.execute(PLAN)
        connection.execute(SETTLEMENT)
    with psycopg.connect(own.as_owner(dsn)) as connection:
        connection.execute(ERASURE)
    assert filled(dsn) == tables(dsn)
    own.give_back(dsn)
    again = own.take()
    assert own.made == 1
    assert filled(again) == WRITTEN_BY_SETUP
    with psycopg.connect(own.as_owner(again)) as connection:
        row = connection.execute(
            "select last_value, is_called from oasflow.context_finalizes_seq_seq"
        )
        assert row.fetchone() == (1, False)


def leave_governed_run(dsn: str, ledger: Path) -> None:
    """Its records, a pack that it could have been under, and a proposal that somebody judged."""
    parts = lend_refund(ledger)
    with RunStore.open(dsn, host=parts) as store:
        (graph,) = parts.graphs
        assert isinstance(graph, GraphFlow)
        run = store.start(graph, {"request": request()}, tenant=TENANT)
        store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        StoredPacks(store.database).publish(ContextPack.read(read_pack()), by="ann")
        proposals = MemoryProposals(store.database)
        left = proposals.list_open()[0]
        proposals.review(left.proposal.proposal_id, promoted=True, by="ann")


CHANGES = [
    "drop index oasflow.eligible_by_owner",
    "drop trigger decisions_are_kept on oasflow.decisions",
    "alter table oasflow.decisions disable trigger decisions_are_kept",
    "alter table oasflow.decisions enable trigger decisions_are_kept",
    "alter table oasflow.runs disable trigger all",
    "alter table oasflow.objects add column more text",
    "alter table oasflow.objects alter column org_id set not null",
    "alter table oasflow.objects alter column org_id set default 'acme'",
    "alter table oasflow.objects alter column org_id set statistics 10",
    "alter table oasflow.objects drop constraint objects_id_check",
    "alter table oasflow.objects set (fillfactor = 50)",
    "alter table oasflow.objects enable row level security",
    "alter table oasflow.checkpoints set unlogged",
    "alter sequence oasflow.context_finalizes_seq_seq increment by 10",
    "create policy mine on oasflow.objects using (true)",
    "create rule nothing as on delete to oasflow.flows do instead nothing",
    "grant select on oasflow.objects to public",
    "grant select (id) on oasflow.objects to public",
    "revoke execute on function oasflow.open_visibilities from public",
    OTHER_FUNCTION,
    "create table more (id text)",
    "create schema more",
    "create type mood as enum ('good')",
    "create statistics oasflow.both on id, org_id from oasflow.objects",
    "create publication everything for all tables",
    "alter default privileges grant select on tables to public",
    "select lo_create(0)",
    "delete from oasflow.schema_versions where version like '003%'",
    "insert into oasflow.checkpoint_migrations values (1000)",
    ROWS.format(9) + "; analyze oasflow.objects",
    "do $$ begin execute format('alter database %I set jit = on', current_database()); end $$",
    "do $$ begin execute format('grant connect on database %I to public', current_database()); end $$",
]


def test_a_database_that_was_changed_has_another_shape(own: Databases) -> None:
    with psycopg.connect(own.as_superuser(own.take())) as connection:
        for statement in CHANGES:
            connection.execute(statement)  # type: ignore[arg-type]
            assert shape_of(connection) != own.shape, statement
            connection.rollback()
        # Control: what no test is kept from doing changes nothing.
        connection.execute(ROWS.format(9))  # type: ignore[arg-type]
        assert shape_of(connection) == own.shape


def test_what_rows_alone_allow_to_be_changed_is_in_the_outline(own: Databases) -> None:
    """Nobody looks at the whole shape of a database that no owner was given."""
    refused = 0
    said: list[str] = []
    """That no privilege was granted: the statement has changed nothing, and is no error."""
    with psycopg.connect(own.take()) as connection:
        connection.add_notice_handler(lambda told: said.append(str(told.message_primary)))
        outline = outline_of(connection)
        for statement in [*CHANGES, "alter role current_user set jit = on"]:
            try:
                connection.execute(statement)  # type: ignore[arg-type]
            except psycopg.errors.InsufficientPrivilege:
                refused += 1
            else:
                assert said or outline_of(connection) != outline, statement
            connection.rollback()
            said.clear()
    assert refused > 20, "the control: most is refused"


def test_a_database_that_was_changed_is_not_used_again(own: Databases) -> None:
    dsn = own.take()
    with psycopg.connect(own.as_owner(dsn)) as connection:
        connection.execute("drop index oasflow.eligible_by_owner")
    own.give_back(dsn)
    assert own.free == []
    check_gone(dsn)


@pytest.mark.long
def test_nobody_reaches_a_database_by_the_name_of_an_earlier_test(own: Databases) -> None:
    dsn = own.take()
    pool = Database.open(dsn)  # it connects again by itself
    left = psycopg.connect(dsn)
    left.execute("select pg_advisory_lock(1)")
    own.give_back(dsn)
    check_gone(dsn)
    with pytest.raises(psycopg.OperationalError):
        left.execute("select 1")
    pool.close()
    assert filled(own.take()) == WRITTEN_BY_SETUP


def test_a_test_that_holds_on_to_its_database_holds_up_nobody(own: Databases) -> None:
    """It connects again and locks a table, as soon as it is thrown out."""
    own.patience = 1
    dsn, stop, in_vain = own.take(), threading.Event(), threading.Event()
    owner = own.as_owner(dsn)

    def hold() -> None:
        while not stop.is_set():
            with contextlib.suppress(psycopg.Error), psycopg.connect(owner) as connection:
                connection.execute("lock table oasflow.objects in access exclusive mode")
                if not stop.wait(60):
                    in_vain.set()  # whoever waited for the lock gets it now

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        own.give_back(dsn)
    finally:
        stop.set()
        holder.join()
    check_gone(dsn)
    assert not in_vain.is_set()


def test_a_database_that_is_gone_is_no_error(own: Databases) -> None:
    dsn = own.take()
    own.drop(dsn)
    own.give_back(dsn)
    assert own.take() != dsn


def test_a_connection_of_the_suite_that_was_ended_is_begun_again(own: Databases) -> None:
    own.give_back(own.take())
    assert own._kept is not None
    with psycopg.connect(own.url, autocommit=True) as connection:
        ended = sql.SQL("select pg_terminate_backend({}, 5000)").format(own._kept.info.backend_pid)
        connection.execute(ended)
    for left in (0, 1):  # one database is lost with the connection
        own.give_back(own.take())
        assert len(own.free) == left


def test_a_table_that_was_large_is_as_small_as_a_new_one(own: Databases) -> None:
    dsn = own.take()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(ROWS.format(5_000))  # type: ignore[arg-type]
        assert pages(connection) > 10
    own.give_back(dsn)
    with psycopg.connect(own.take()) as connection:
        assert (own.made, pages(connection)) == (1, 0)


def pages(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("select pg_relation_size('oasflow.objects') / 8192").fetchone()
    assert row is not None
    return int(row[0])


def check_gone(dsn: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(dsn)

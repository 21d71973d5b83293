"""Who brings the tables of a store up to date, and what a role without tables gets."""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Json
from typer.testing import CliRunner

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.activations import advance
from cinatra_sdk.errors import StoreError
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.local_postgres import cluster as local_cluster
from cinatra_sdk.local_postgres import supervisor as local
from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError
from cinatra_sdk.postgres import migration, role_rights
from cinatra_sdk.postgres.connection import connect, migrations, rights
from cinatra_sdk.postgres.migration import migrate
from cinatra_sdk.postgres.role_rights import look
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from oas_compiler.cli.app import app_for
from tests.databases import Databases
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, start
from tests.warm import FORKED

EVERYTHING = tuple(version for version, _ in migrations())
Make = Callable[[str], str]


def execute(dsn: str, *statements: str) -> Any:
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as connection:
        for statement in statements:
            cursor = connection.execute(statement)  # type: ignore[arg-type]
        return cursor.fetchone() if cursor.description else None


@pytest.fixture
def role(databases: Databases) -> Iterator[Make]:
    """Makes a role of one's own server, with a password, and a database of its own for it."""
    made: list[str] = []

    def one(attributes: str = "") -> str:
        name = f"r_{uuid.uuid4().hex[:8]}"
        execute(databases.url, f"create role {name} login password 'x' {attributes}")
        made.append(name)
        return name

    yield one
    for name in made:
        execute(databases.url, f"reassign owned by {name} to current_user", f"drop role {name}")


@pytest.fixture
def empty(databases: Databases, role: Make) -> Iterator[str]:
    """A superuser's DSN of a database without any table; it goes before the roles that own some."""
    name = f"e_{uuid.uuid4().hex[:8]}"
    execute(databases.url, f"create database {name} template template0")
    dsn = make_conninfo(databases.url, dbname=name)
    yield dsn
    databases.drop(dsn)


def as_role(dsn: str, name: str) -> str:
    return make_conninfo(dsn, user=name, password="x")


def test_a_single_role_that_may_create_opens_an_empty_database_and_is_told_what_it_could_do(
    empty: str, role: Make, caplog: pytest.LogCaptureFixture
) -> None:
    mine = role("")
    name = psycopg.conninfo.conninfo_to_dict(empty)["dbname"]
    execute(empty, f"alter database {name} owner to {mine}")
    with caplog.at_level(logging.WARNING, "oasflow.store"):
        Database.open(as_role(empty, mine)).close()
        Database.open(as_role(empty, mine)).close()
    (told,) = [record.getMessage() for record in caplog.records]
    assert f"the role '{mine}' could change what is append-only" in told
    assert "it owns attachment_pieces, context_finalizes, context_packs," in told
    with connect(as_role(empty, mine)) as connection:
        assert look(connection).missing == ()


def test_a_role_that_may_create_nothing_is_told_who_has_to_migrate(empty: str, role: Make) -> None:
    mine = role("")
    with pytest.raises(StoreError, match=rf"oasflow db migrate --app-role {mine}"):
        Database.open(as_role(empty, mine))
    with pytest.raises(StoreError, match="it may not create a schema"):
        migrate(as_role(empty, mine))
    migrate(empty)
    with pytest.raises(StoreError, match=f"the role '{mine}' has no rights"):
        Database.open(as_role(empty, mine))
    with pytest.raises(StoreError, match=r"'oasflow_superuser' owns its tables|has no rights"):
        migrate(as_role(empty, mine))


def test_migrating_gives_a_role_rows_only_and_the_same_again_changes_nothing(
    empty: str, role: Make, caplog: pytest.LogCaptureFixture
) -> None:
    mine = role("")
    done = migrate(empty, app_role=mine)
    assert done.applied[:-1] == EVERYTHING
    assert (done.granted, done.created) == ((mine,), "")
    again = migrate(empty)
    assert (again.applied, again.granted) == ((), (mine,))
    Database.open(as_role(empty, mine)).close()
    assert caplog.records == []
    with connect(as_role(empty, mine)) as connection:
        assert look(connection).powers == ()


def test_a_later_migration_brings_every_app_role_to_its_rights(empty: str, role: Make) -> None:
    mine, other = role(""), role("")
    migrate(empty, app_role=mine)
    migrate(empty, app_role=other)
    execute(
        empty,
        f"revoke insert on decisions from {mine}",
        f"grant delete on decisions to {mine}",
        "create table schema_of_tomorrow (x int)",
    )
    assert migrate(empty).granted == tuple(sorted((mine, other)))
    question = "select has_table_privilege('{}', 'decisions', 'delete'), has_column_privilege('{}', 'decisions', 'kind', 'insert')"
    for name in (mine, other):
        assert execute(empty, question.replace("{}", name)) == (False, True)


OF_004 = (
    ("payload_sha256, policy_sha256)", "payload_sha256, policy_sha256, decided_at)"),
    ("(run_id, tenant, digest, input,", "(run_id, tenant, digest, status, input,"),
    ("grant update (status, outputs,", "grant update (status, waiting, fence, updated_at, outputs,"),
    (", stopped_by, stop_reason, usage,\n              retry_at, failures)", ")"),
    ("lowering, platform, policy, started_by,\n              file, owner,", "lowering, platform, policy)"),
    (" session_id, parent_run_id, parent_path, deadline, governed)\n", "\n"),
    ("grant select on oasflow.eligible_artifacts to {role};", ""),
    (("grant select on oasflow.run_ends to {role};\ngrant select on oasflow.running to {role};\n"
      "grant select on oasflow.rests to {role};"), ""),
    (rights()[rights().index("-- Who works on a run"):], ""),
)  # fmt: skip
"""What `rights.sql` says today, and what it said before 005."""
FLOW = flow_of(start(), gate("ok"), api("send"), end())


def at_004(empty: str, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and rights as the version before 005 left them."""
    text = rights()
    for today, then in OF_004:
        assert text.count(today) == 1, today
        text = text.replace(today, then)
    with monkeypatch.context() as before:
        for module in (migration, role_rights):
            before.setattr(module, "migrations", lambda: migrations()[:4])
        before.setattr(migration, "rights", lambda: text)
        assert migrate(empty, app_role=role).applied[:-1] == EVERYTHING[:4]


@pytest.fixture
def app_at_004(empty: str, role: Make, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The application's role and its DSN, on a database of 004 with runs in it."""
    mine = role("")
    dsn = as_role(empty, mine)
    at_004(empty, mine, monkeypatch)
    parked_at_004(dsn)
    return mine, dsn


def parked_at_004(dsn: str) -> None:
    """`r1` at its gate, `r2` and `r3` ended, and decisions that no trigger looked at."""
    flow = compile_flow(FLOW, platform=SimulatedPlatform())
    with connect(dsn) as connection:
        graph = flow.graph(PostgresSaver(connection, serde=STRICT_SERIALIZER))
        config = flow.config(run_id="r1")
        stop = advance(graph, flow.input(), config, context=flow.context(run_id="r1"), answer=lambda _: None)  # fmt: skip
        waiting = Json([gate.to_json() for gate in stop.gates])
        connection.execute(
            "insert into flows (digest, name, file, source) values (%s, %s, '', %s)",
            [flow.digest, flow.name, flow.source],
        )
        for run_id, status in (("r1", "running"), ("r2", "completed"), ("r3", "stopped")):
            connection.execute(
                "insert into runs (run_id, tenant, digest, status, input, env_names, lowering, platform)"
                " values (%s, '', %s, %s, %s, '{}', %s, %s)",
                [run_id, flow.digest, status, Json(flow.input()), flow.lowering,
                 Json(flow.platform.describe())],
            )  # fmt: skip
        connection.execute(
            "update runs set status = 'waiting', waiting = %s, attempts = 1, fence = 1,"
            " updated_at = now() - interval '1 day' where run_id = 'r1'",
            [waiting],
        )
        connection.execute(
            "insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,"
            " payload_sha256, policy_sha256, decided_at) values"
            " ('r2', 'g', 'another', 'g', 1, 1, 'approved', '{}', E'ann\u200b', 'p', 'q', '2001-01-01'),"
            " ('r3', 'g', '', 'g', 1, 1, 'approved', '{}', 'bob', 'p', 'q', '2101-01-01')"
        )


def test_a_database_of_004_keeps_its_rows_and_gets_the_clock_and_the_triggers_of_005(
    empty: str, app_at_004: tuple[str, str]
) -> None:
    mine, dsn = app_at_004
    rows = "select json_agg(to_jsonb({0}) - '{1}'::text[] order by run_id) from {0}"
    since_then = (
        "{stopped_by,stop_reason,started_by,file,owner,session_id,parent_run_id,parent_path,usage,"
        "deadline,retry_at,failures,archived_at,governed,started_sub,started_issuer,started_kind,"
        "started_proof,started_channel,stopped_sub,stopped_issuer,stopped_kind,stopped_proof,"
        "stopped_channel,by_sub,by_issuer,by_kind,by_proof,by_channel}"
    )
    before = [execute(empty, rows.format(table, since_then)) for table in ("runs", "decisions")]
    with pytest.raises(StoreError, match=rf"missing: 005.*--app-role {mine}"):
        Database.open(dsn)
    done = migrate(empty)
    assert (done.applied, done.granted) == (EVERYTHING[4:], (mine,))
    assert [
        execute(empty, rows.format(table, since_then)) for table in ("runs", "decisions")
    ] == before
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(dsn, "insert into decisions (decided_at) values (now())")
    with RunStore.open(dsn) as store:
        assert {run.id: run.status for run in store.list()} == {
            "r1": "waiting", "r2": "completed", "r3": "stopped",
        }  # fmt: skip
        assert store.get("r3").stopped_by == ""
        since = store.database.now()
        assert store.answer("r1", "ok", Decision.approve(by="ann")).status == "completed"
        (kept,) = store.decisions("r1")
        assert since < kept["decided_at"] < store.database.now()


def test_a_migration_while_a_version_before_is_running_lets_it_write_no_moment(
    empty: str, app_at_004: tuple[str, str]
) -> None:
    _, dsn = app_at_004
    with connect(dsn) as of_before:
        migrate(empty)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            of_before.execute(
                "update runs set status = 'running', updated_at = now() where run_id = 'r1'"
            )
    assert execute(empty, "select status from runs where run_id = 'r1'") == ("waiting",)


def test_a_role_that_is_not_there_is_made_without_a_password(empty: str) -> None:
    name = f"r_{uuid.uuid4().hex[:8]}"
    try:
        assert migrate(empty, app_role=name).created == name
        found = execute(
            empty, f"select rolsuper, rolpassword from pg_authid where rolname = '{name}'"
        )
        assert found == (False, None)
    finally:
        execute(empty, f"drop owned by {name}", f"drop role {name}")


@pytest.mark.parametrize("name", ["oasflow_superuser", " x", "x\n", "x" * 64, "é" * 32])
def test_a_role_that_nothing_holds_to_rows_is_refused(empty: str, name: str) -> None:
    with pytest.raises(StoreError, match=r"holds it to rows|is not usable"):
        migrate(empty, app_role=name)


def test_a_member_of_the_owner_is_no_app_role(empty: str, role: Make) -> None:
    owner, member = role(""), role("")
    database = psycopg.conninfo.conninfo_to_dict(empty)["dbname"]
    execute(empty, f"alter database {database} owner to {owner}", f"grant {owner} to {member}")
    with pytest.raises(StoreError, match="owns the tables"):
        migrate(as_role(empty, owner), app_role=member)
    execute(empty, f"revoke {owner} from {member}", "drop schema oasflow cascade",
            f"alter database {database} owner to current_user")  # fmt: skip


def open_at_once(dsn: str, together: Any, failures: Any) -> None:
    together.wait()
    try:
        Database.open(dsn).close()
    except Exception as error:
        failures.put(repr(error))


@pytest.mark.parametrize("turn", range(tries(2, 20)))
def test_processes_that_open_an_empty_database_at_once_make_its_tables_once(
    empty: str, turn: int
) -> None:
    processes = 6
    together, failures = FORKED.Barrier(processes), FORKED.Queue()
    made = [
        FORKED.Process(target=open_at_once, args=(empty, together, failures))
        for _ in range(processes)
    ]
    for process in made:
        process.start()
    for process in made:
        process.join(60)
    assert [process.exitcode for process in made] == [0] * processes
    assert failures.empty(), (turn, failures.get())
    with connect(empty) as connection:
        assert look(connection).missing == ()


def test_somebody_who_holds_the_lock_of_the_setup_does_not_hold_it_up_for_ever(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "PATIENCE", 0.0)
    with psycopg.connect(empty, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(hashtextextended('oasflow:setup', 0))")
        with pytest.raises(StoreError, match="another process has been setting up"):
            migrate(empty)
    Database.open(empty).close()


def test_every_table_of_the_schema_says_what_an_app_role_may_write(owner_database: str) -> None:
    written = migration.rights_of("x").as_string()
    with psycopg.connect(owner_database) as connection:
        rows = connection.execute("select tablename from pg_tables where schemaname = 'oasflow'")
        tables = {name for (name,) in rows} - {"schema_versions", "checkpoint_migrations"}
    assert {name for name in tables if f"on oasflow.{name} to" not in written} == set()


@pytest.mark.parametrize(
    ("taken", "lacks"),
    [
        ("insert on decisions", "insert on decisions"),
        ("insert, update on runs", "insert on runs, update on runs"),
        ("update (stopped_by) on runs", "update on runs"),
        ("select on flows", "select on flows"),
        ("insert on checkpoint_writes", "insert on checkpoint_writes"),
    ],
)
def test_a_role_that_lacks_a_right_is_told_which_and_who_gives_it(
    empty: str, role: Make, taken: str, lacks: str
) -> None:
    mine = role("")
    migrate(empty, app_role=mine)
    dsn = as_role(empty, mine)
    with RunStore.open(dsn) as store:
        execute(empty, f"revoke {taken} from {mine}")
        with pytest.raises(StoreError) as refused:
            _lived(store)
        text = str(refused.value)
        name = psycopg.conninfo.conninfo_to_dict(empty)["dbname"]
        assert f"the role '{mine}' lacks a right in the database {name} at " in text
        assert f": {lacks} (oasflow db migrate --app-role {mine} grants it" in text
        assert "is it running" not in text
        migrate(empty)
        _lived(store)


def _lived(store: RunStore) -> None:
    """A run that needs every right on runs, decisions, flows and checkpoints."""
    run = store.start(compile_flow(FLOW, platform=SimulatedPlatform()))
    store.answer(run.id, "ok", Decision.reject(by="ann"))
    run = store.start(compile_flow(FLOW, platform=SimulatedPlatform()))
    store.stop(run.id)


def test_a_right_that_no_migration_gives_is_said_as_the_server_says_it(
    empty: str, role: Make
) -> None:
    mine = role("")
    migrate(empty, app_role=mine)
    database = Database.open(as_role(empty, mine))
    try:
        with (
            pytest.raises(StoreError, match=f"'{mine}' lacks a right .*: permission denied"),
            database.connection() as connection,
        ):
            connection.execute("select * from pg_authid")
    finally:
        database.close()


def test_the_name_of_a_role_is_quoted(owner_database: str) -> None:
    text = migration.rights_of('x"; drop schema oasflow; --').as_string()
    assert 'to "x""; drop schema oasflow; --";' in text


# ------------------------------------------------------------- clusters of a version before


@pytest.fixture
def place() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def own() -> Iterator[LocalServer]:
    """A server of this module's own; each test brings it to where it begins."""
    with short_folder() as folder:
        server = LocalServer(folder / "postgres")
        server.start()
        yield server
        server.stop()


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A socket's path is short."""
    folder = Path(tempfile.mkdtemp(prefix="oft-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_cluster_whose_only_role_was_a_superuser_comes_out_with_three(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = LocalServer(place / "pg")
    with monkeypatch.context() as before:
        before.setattr(local_cluster, "SUPERUSER", "oasflow")
        before.setattr(local, "settle", lambda *_, **__: None)
        before.setattr(local.LocalServer, "_set_up", lambda _: None)
        # What a version before wrote first is the password of its only role.
        before.setattr(local.LocalServer, "_ensure_password", lambda self, name: "pw")
        before.setattr(local.LocalServer, "_write_new", _writes_pw)
        server.start()
        assert execute(server.dsn(), "select rolsuper from pg_roles where rolname = 'oasflow'") == (
            True,
        )
        Database.open(server.dsn()).close()
        execute(server.dsn(), "create table public.mine as select 7 as n",
                "insert into objects (id, type, owner_id, visibility) values ('a', 't', 'ann', 'org')")  # fmt: skip
        old = server.dsn()
        server.stop()
    (server.folder / "control" / "unfinished").unlink(missing_ok=True)
    try:
        server.start()
        assert server.dsn() == old
        with connect(old) as connection:
            assert look(connection).powers == ()
        assert execute(old, "select id from objects") == ("a",)
        assert execute(old, "select n from public.mine") == (7,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(old, "alter table decisions disable trigger all")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(old, "copy (select 1) to program 'true'")
        assert execute(
            server.owner_dsn(), "select rolsuper from pg_roles where rolname = current_user"
        ) == (False,)
    finally:
        server.stop()


def test_a_server_of_before_that_still_runs_is_told_to_be_stopped(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = LocalServer(place / "postgres")
    monkeypatch.setenv("OASFLOW_HOME", str(place))
    with monkeypatch.context() as before:
        before.setattr(local_cluster, "SUPERUSER", "oasflow")
        before.setattr(local, "settle", lambda *_, **__: None)
        before.setattr(local.LocalServer, "_set_up", lambda _: None)
        before.setattr(local.LocalServer, "_ensure_password", lambda self, name: "pw")
        before.setattr(local.LocalServer, "_write_new", _writes_pw)
        server.start()
    (server.folder / "control" / "unfinished").unlink(missing_ok=True)
    try:
        migration._TOLD.clear()
        with caplog.at_level(logging.WARNING, "oasflow.store"):
            Database.open().close()
        (told,) = [record.getMessage() for record in caplog.records]
        assert "the role 'oasflow' could change what is append-only" in told
        assert "it is a superuser" in told
        assert told.endswith(migration.RESTART)
        assert migration.RESTART in oasflow_db("status").stdout
        refused = oasflow_db("migrate")
        assert "Run `oasflow db stop`, then `oasflow db start`." in refused.stderr
        caplog.clear()
        server.stop()
        migration._TOLD.clear()
        Database.open().close()
        assert caplog.records == []
        assert migration.RESTART not in oasflow_db("status").stdout
        assert "  the role 'oasflow' has rows only\n" in oasflow_db("migrate").stdout
    finally:
        server.stop()


def oasflow_db(command: str) -> Any:
    """`oasflow db` in this process, which gives the product's log back afterwards."""
    log = logging.getLogger("oasflow")
    before = list(log.handlers), log.propagate
    try:
        return CliRunner().invoke(app_for(["db", command]), ["db", command], catch_exceptions=False)
    finally:
        log.handlers, log.propagate = before


def _writes_pw(self: LocalServer, name: str) -> str:
    (self._control / name).write_text("pw")
    return "pw"


def test_a_role_that_changed_its_own_password_is_let_in_again_at_the_next_start(
    own: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OASFLOW_HOME", str(own.folder.parent))
    execute(
        own.dsn(),
        "alter role oasflow password 'mine'",
        "alter role oasflow set default_transaction_read_only = on",
    )
    with pytest.raises(psycopg.OperationalError):
        execute(own.dsn(), "select 1")
    with pytest.raises(
        StoreError, match=r"another password now, oasflow db stop and oasflow db start"
    ):
        Database.open()
    own.stop()
    own.start()
    assert execute(own.dsn(), "show default_transaction_read_only") == ("off",)


def test_a_first_start_that_was_interrupted_before_the_tables_is_finished_by_the_next(
    own: LocalServer,
) -> None:
    unfinished = own.folder / "control/unfinished"
    assert not unfinished.exists()
    execute(own.owner_dsn(), "drop schema oasflow cascade")
    with pytest.raises(StoreError, match="oasflow db migrate"):
        Database.open(own.dsn())
    unfinished.touch()
    own.start()
    Database.open(own.dsn()).close()
    assert not unfinished.exists()


def test_an_embedded_server_of_before_a_migration_is_brought_up_to_date_by_whoever_opens_it(
    own: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OASFLOW_HOME", str(own.folder.parent))
    execute(own.owner_dsn(), "drop schema oasflow cascade")
    Database.open().close()
    with connect(own.dsn()) as connection:
        assert look(connection).missing == ()


def test_a_secret_that_a_program_says_is_not_in_the_error(
    own: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = (own.folder / "control/owner-password").read_text()
    monkeypatch.setattr(local_cluster, "settling", lambda **given: f"alter {given['owner']};\n\n")
    own.stop()
    try:
        with pytest.raises(LocalServerError, match="postgres failed with exit status") as failed:
            own.start()
    finally:
        monkeypatch.undo()
        own.start()
    assert secret not in str(failed.value) + failed.value.log

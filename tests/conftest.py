"""Shared by all tests: a real Postgres.

`local_server`        an embedded server, one per test session
`fresh_database`      the DSN of a database of its own, with the store's tables, per test; of the role
                      that has rows only, as every run has it
`owner_database`      the same database, for the role that owns its tables
`superuser_database`  the same database, for the server's superuser
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.postgres.pooler import BEGIN
from tests.databases import Databases
from tests.poolers import (
    POOLER_VARIABLE,
    SIZES,
    SWALLOWS,
    Pooler,
    keep_settings,
    letting_leases_run_out,
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell that has no job control.  Every process that a test
    # starts would ignore Ctrl-C too, and wait for ever where a test sends one.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# As the program does.  The suite holds millions of objects that stay: looking for garbage among them
# after each few hundred new ones is a tenth of the time of its tests.
gc.set_threshold(50_000, 20, 50)

# How fast the machine makes its examples says nothing about the product.
settings.register_profile(
    "any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any_machine")

LONGEST = (
    "test_refund.py",
    "test_demo.py",
    "test_readme.py",
    "test_regex_node.py",
    "test_cli_processes.py",
    "test_containers.py",
    "test_local.py",
    "test_cli_withdrawn.py",
    "test_cli_runs.py",
    "test_cli_selecting.py",
    "test_readmes.py",
    "test_growing.py",
    "test_run_saver.py",
    "test_benchmarks.py",
    "test_migrating.py",
    "test_conversation.py",
    "test_harness.py",
    "test_trust.py",
    "test_takeover.py",
    "test_races.py",
    "test_one_proof.py",
    "test_eligible.py",
    "test_http_retries.py",
    "test_cli_context.py",
    "test_large_flows.py",
    "test_restarts.py",
    "test_house.py",
    "test_layers.py",
    "test_http_platform.py",
    "test_emitted_stored.py",
    "test_decisions.py",
)
"""Files that take ten seconds and more: begun first, so that no process ends with one alone."""


def pytest_collection_finish() -> None:
    """Of what was imported and collected nothing is garbage before the end."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {name: place for place, name in enumerate(LONGEST)}
    if POOLER_VARIABLE in os.environ:
        _leave_out_sessions(items)
    items.sort(key=lambda item: first.get(item.path.name, len(LONGEST)))


def _leave_out_sessions(items: list[pytest.Item]) -> None:
    for item in items:
        mark = item.get_closest_marker("own_session")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"not through a pooler: {mark.args[0]}"))


@pytest.fixture(scope="session")
def local_server() -> Iterator[LocalServer]:
    """An embedded server in a folder of its own, gone with the session."""
    folder = Path(tempfile.mkdtemp(prefix="oft-"))
    server = LocalServer(folder)
    server.start()
    try:
        _spare_the_disk(server.superuser_dsn())
        _shorten_the_login(server)
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def databases(local_server: LocalServer) -> Iterator[Databases]:
    made = Databases(
        local_server.superuser_dsn(), app=local_server.dsn(), owner=local_server.owner_dsn()
    )
    yield made
    made.close()


@pytest.fixture(scope="session")
def pooler(local_server: LocalServer) -> Iterator[Pooler | None]:
    """PgBouncer before the server, where `OASFLOW_TEST_POOLER` says in which mode; else None."""
    mode = os.environ.get(POOLER_VARIABLE)
    if mode is None:
        yield None
        return
    if mode == "session":
        keep_settings(local_server)
    query = "" if mode == "session" else BEGIN
    with Pooler.before(
        local_server, mode=mode, size=SIZES[mode], query=query, settings=SWALLOWS
    ) as made:
        yield made


@pytest.fixture
def fresh_database(databases: Databases, pooler: Pooler | None) -> Iterator[str]:
    """The DSN of a database with the store's tables in it and nothing else."""
    dsn = databases.take()
    try:
        if pooler is None:
            yield dsn
        else:
            with letting_leases_run_out(dsn):
                yield pooler.address_of(dsn)
    finally:
        databases.give_back(dsn)


@pytest.fixture
def owner_database(databases: Databases, fresh_database: str) -> str:
    return databases.as_owner(fresh_database)


@pytest.fixture
def superuser_database(databases: Databases, fresh_database: str) -> str:
    return databases.as_superuser(fresh_database)


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own database or platform never takes part in a test."""
    settings = (
        "DATABASE_URL", "OASFLOW_HOME", "OASFLOW_PG_BIN", "OASFLOW_PG_USER", "OASFLOW_FLOW",
        "OASFLOW_ENV", "OASFLOW_ALLOW", "OASFLOW_OPAQUE", "OASFLOW_TENANT", "OASFLOW_DURABILITY",
    )  # fmt: skip
    for name in list(os.environ):
        if name.startswith("CINATRA_") or name in settings:
            monkeypatch.delenv(name)


def _spare_the_disk(url: str) -> None:
    """Leave out what only a power cut would need: the server's folder is gone with the session.

    Processes are killed here, never the machine; what a killed process had committed stays either
    way.  Tables are analyzed by tests that are about plans, and behind nobody's back.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "autovacuum"):
            connection.execute(sql.SQL("alter system set {} = off").format(sql.Identifier(setting)))
        connection.execute("select pg_reload_conf()")


def _shorten_the_login(server: LocalServer) -> None:
    """Hash the passwords once and not 4,096 times, which was more than half of every connection."""
    with psycopg.connect(server.superuser_dsn(), autocommit=True) as connection:
        if connection.info.server_version < 160000:  # a setting of 16
            return
        connection.execute("set scram_iterations = 1")
        for dsn in (server.superuser_dsn(), server.owner_dsn(), server.dsn()):
            account = conninfo_to_dict(dsn)
            connection.execute(
                sql.SQL("alter role {} password {}").format(
                    sql.Identifier(str(account["user"])), sql.Literal(account["password"])
                )
            )

"""Shared by all tests: a real Postgres.

`database_url`    the DSN of an embedded server, one per test session
`fresh_database`  the DSN of a database of its own, with the store's tables, per test
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cinatra_sdk.store.database import Database
from cinatra_sdk.store.local import LocalServer

TEMPLATE = "oasflow_template"


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """An embedded server in a folder of its own, gone with the session."""
    folder = Path(tempfile.mkdtemp(prefix="oft-"))
    server = LocalServer(folder)
    server.start()
    try:
        _spare_the_disk(server.dsn())
        yield server.dsn()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template_database(database_url: str) -> str:
    """A database with the store's tables, copied for each test that wants one."""
    _create(database_url, TEMPLATE)
    Database.open(make_conninfo(database_url, dbname=TEMPLATE)).close()
    return TEMPLATE


@pytest.fixture
def fresh_database(database_url: str, template_database: str) -> Iterator[str]:
    """The DSN of a new database with the store's tables in it and nothing else."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    _create(database_url, name, template=template_database)
    try:
        yield make_conninfo(database_url, dbname=name)
    finally:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("drop database {} with (force)").format(sql.Identifier(name))
            )


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own database or platform never takes part in a test."""
    settings = ("DATABASE_URL", "OASFLOW_HOME", "OASFLOW_PG_BIN", "OASFLOW_PG_USER", "OASFLOW_FLOW")
    for name in list(os.environ):
        if name.startswith("CINATRA_") or name in settings:
            monkeypatch.delenv(name)


def _spare_the_disk(url: str) -> None:
    """Leave out what only a power cut would need: the server's folder is gone with the session.

    Processes are killed here, never the machine; what a killed process had committed stays either
    way.  Each test makes and drops a database, which would wait for the disk otherwise.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(sql.SQL("alter system set {} = off").format(sql.Identifier(setting)))
        connection.execute("select pg_reload_conf()")


def _create(url: str, name: str, *, template: str = "template0") -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {}").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )

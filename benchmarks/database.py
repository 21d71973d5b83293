"""A Postgres for the length of one measurement, and what a run left in it.

In: nothing, or a DSN.  Out: a connection, and `{table: Written(rows, bytes)}` of one thread.
Without a DSN the embedded server is started in a temporary folder, stopped and removed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.postgres.connection import Rows
from cinatra_sdk.store.database import Database

_WRITTEN = (Path(__file__).parent / "written.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What one thread left in one table."""

    rows: int
    bytes: int


@contextmanager
def connection(dsn: str | None = None) -> Iterator[Rows]:
    """One connection as an activation has it: autocommit, statements prepared at first use."""
    with server(dsn) as address:
        database = Database.open(address)
        try:
            with database.own_connection() as own:
                yield own
        finally:
            database.close()


def written(rows: Rows, thread: str) -> dict[str, Written]:
    """Table → what the thread left in it."""
    found = rows.execute(_WRITTEN, {"thread": thread}).fetchall()
    return {row["table_name"]: Written(rows=row["rows"], bytes=row["bytes"]) for row in found}


def version(rows: Rows) -> str:
    number = rows.info.server_version
    return f"{number // 10000}.{number % 10000}"


@contextmanager
def server(dsn: str | None = None) -> Iterator[str]:
    """The DSN as given, else the one of an embedded server that goes afterwards.

    Of the role that owns the tables: a measurement analyzes them, and deletes what it wrote.
    """
    if dsn is not None:
        yield dsn
        return
    folder = Path(tempfile.mkdtemp(prefix="oasflow-benchmark-"))
    local = LocalServer(folder / "postgres")
    try:
        local.start()
        yield local.owner_dsn()
    finally:
        local.stop()
        shutil.rmtree(folder, ignore_errors=True)

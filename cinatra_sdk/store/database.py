"""The database of a run store: its address, tables and connections.

In: a DSN, or nothing.  Out: connections whose `search_path` is the schema `oasflow`.

    Database.open()            # DATABASE_URL, else the embedded server, started if need be

Opening a database whose tables are up to date changes nothing in it, so a role that may only use
rows, or a read-only copy, is enough; see `migrating` for other databases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

import psycopg
from psycopg_pool import PoolTimeout

from cinatra_sdk.errors import StoreError, StoreUnreachable
from cinatra_sdk.local_postgres.cluster import APP
from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError
from cinatra_sdk.postgres.connection import Rows, clock, connect
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.migration import migrate, outdated, prepare
from cinatra_sdk.postgres.notifications import Listening
from cinatra_sdk.postgres.pools import OwnPool, WorkConnections


@dataclass(slots=True)
class Database:
    """One Postgres database; safe to share between threads, and with processes that are forked:
    each has connections of its own.
    """

    dsn: str = field(repr=False)
    pool: OwnPool = field(repr=False)
    """For short statements."""
    work: WorkConnections = field(repr=False)
    """For activations, apart from the short statements, which never wait behind them."""
    news: Listening = field(repr=False)
    """Who follows runs."""

    @classmethod
    def open(cls, dsn: str | None = None) -> Database:
        """Connect; brings the tables up to date where the role may.

        `dsn` None: `DATABASE_URL`, else the embedded server.  Raises: `StoreError`, which names
        `oasflow db migrate` where the tables are not up to date and the role only has rows.
        """
        address, embedded = dsn or os.environ.get("DATABASE_URL") or "", None
        if not address:
            embedded = _start_embedded_server()
            address = embedded.dsn()
        with _connect_first(address, embedded) as connection:
            if not prepare(connection, embedded=embedded is not None):
                if embedded is None:
                    raise outdated(connection)
                migrate(_owner_of(embedded), app_role=APP)
        pool = OwnPool(address, min_size=1, max_size=8, timeout=10)
        pool.get()
        return cls(dsn=address, pool=pool, work=WorkConnections(address), news=Listening(address))

    def close(self) -> None:
        self.news.close()
        self.work.close()
        self.pool.close()

    def now(self) -> datetime:
        """The database's time; its times are compared with this clock and never with the process's
        clock.
        """
        with self.connection() as connection:
            return clock(connection)

    @contextmanager
    def connection(self) -> Iterator[Rows]:
        """A pooled connection for short statements."""
        try:
            with self.pool.get().connection() as connection:
                yield connection
        except UnicodeError:
            raise StoreError("a name or id holds characters that no database takes") from None
        except (psycopg.Error, PoolTimeout) as error:
            raise store_error(self.dsn, error) from None

    @contextmanager
    def own_connection(self) -> Iterator[Rows]:
        """A connection for one activation, which nobody else uses."""
        try:
            with self.work.take() as connection:
                yield connection
        except psycopg.Error as error:
            raise store_error(self.dsn, error) from None


def _connect_first(address: str, embedded: LocalServer | None) -> Rows:
    """Raises: `StoreError`; of the embedded server with what lets a role in that changed its password."""
    try:
        return connect(address)
    except StoreUnreachable as error:
        if embedded is None:
            raise
        failed = StoreUnreachable(
            error.message,
            hint="the local server runs; if its role has another password now, oasflow db stop and "
            "oasflow db start give it back the one in control/password",
        )
    raise failed


def _start_embedded_server() -> LocalServer:
    try:
        server = LocalServer()
        server.start()
    except LocalServerError as error:
        raise StoreError(str(error)) from None
    return server


def _owner_of(server: LocalServer) -> str:
    try:
        return server.owner_dsn()
    except LocalServerError as error:
        raise StoreError(str(error)) from None

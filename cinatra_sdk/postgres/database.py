"""The database behind a run store: where it is, its tables, its connections.

In: a DSN, or nothing.  Out: connections whose `search_path` is the schema `oasflow`.

    Database.open()            # DATABASE_URL, else the embedded server, started if need be

Opening a database whose tables are up to date changes nothing in it, so that a role with rows only,
and a read-only copy, will do; see `migrating` for the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from cinatra_sdk.errors import StoreError
from cinatra_sdk.postgres.dsn import shown_detail, shown_name
from cinatra_sdk.postgres.queries import QUERIES
from cinatra_sdk.postgres.roles import APP
from cinatra_sdk.postgres.server import LocalServer, LocalServerError

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Connection[DictRow]

_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "row_factory": dict_row,
    # The isolation too, whatever the database's default is: see 006_eligible.sql.
    "options": "-c search_path=oasflow -c default_transaction_isolation=read\\ committed",
    "connect_timeout": 10,
    "application_name": "oasflow",
}


@dataclass(slots=True)
class Database:
    """One Postgres database; safe to share between threads."""

    dsn: str = field(repr=False)
    pool: ConnectionPool[Rows] = field(repr=False)

    @classmethod
    def open(cls, dsn: str | None = None) -> Database:
        """Connect; a role that may brings the tables up to date.

        `dsn` None: `DATABASE_URL`, else the embedded server.  Raises: `StoreError`, which names
        `oasflow db migrate` where the tables are not up to date and the role only has rows.
        """
        from cinatra_sdk.postgres import (
            migrating,  # imported here: it is itself a user of this module
        )

        address, embedded = dsn or os.environ.get("DATABASE_URL") or "", None
        if not address:
            embedded = _embedded()
            address = embedded.dsn()
        with connect(address) as connection:
            if not migrating.prepare(connection, embedded=embedded is not None):
                if embedded is None:
                    raise migrating.outdated(connection)
                migrating.migrate(_owner_of(embedded), app_role=APP)
        pool: ConnectionPool[Rows] = ConnectionPool(
            address, kwargs=_OPTIONS, min_size=1, max_size=8, timeout=10, open=False,
            check=ConnectionPool.check_connection,
        )  # fmt: skip
        pool.open()
        return cls(dsn=address, pool=pool)

    def close(self) -> None:
        self.pool.close()

    def now(self) -> datetime:
        """The database's time: what the moments in it are compared with, and never this process's."""
        with self.connection() as connection:
            return clock(connection)

    @contextmanager
    def connection(self) -> Iterator[Rows]:
        """A pooled connection for short statements."""
        try:
            with self.pool.connection() as connection:
                yield connection
        except UnicodeError:
            raise StoreError("a name or id holds characters that no database takes") from None
        except (psycopg.Error, PoolTimeout) as error:
            raise store_error(self.dsn, error) from None

    @contextmanager
    def own_connection(self) -> Iterator[Rows]:
        """A connection of its own: an activation's lock lives and dies with it."""
        connection = connect(self.dsn)
        try:
            yield connection
        except psycopg.Error as error:
            raise store_error(self.dsn, error) from None
        finally:
            connection.close()


def connect(dsn: str) -> Rows:
    """Raises: `StoreError` naming the database."""
    try:
        return psycopg.connect(dsn, **_OPTIONS)
    except (psycopg.Error, ValueError) as error:  # a ValueError for what is no text for libpq
        failed = store_error(dsn, error)
    # Raised out here: in the handler it would keep libpq's error, which may quote the password.
    raise failed


def one(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> Row | None:
    """The first row that the named statement gives."""
    return connection.execute(QUERIES[query], parameters).fetchone()


def every(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
    """All rows that the named statement gives."""
    return connection.execute(QUERIES[query], parameters).fetchall()


def run(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> None:
    """The named statement, for its effect."""
    connection.execute(QUERIES[query], parameters)


def clock(connection: Rows) -> datetime:
    """The database's time, with its zone."""
    told = one(connection, "tell_time")
    assert told is not None
    moment: datetime = told["now"]
    return moment


def store_error(dsn: str, error: Exception) -> StoreError:
    """`error` as ours: the database and the cause, never the password."""
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return _denied(dsn, error)
    state = getattr(error, "sqlstate", None)
    cause = type(error).__name__ + (f" {state}" if state else "")
    detail = shown_detail(dsn, str(error))
    return StoreError(
        f"the database {shown_name(dsn)} failed: {cause}{f': {detail}' if detail else ''}",
        hint="is it running? see oasflow db status, or set DATABASE_URL",
    )


def _denied(dsn: str, error: psycopg.Error) -> StoreError:
    """The database has answered: it is a right that is missing, and its owner can give it."""
    # Imported here: they are themselves users of this module.
    from cinatra_sdk.postgres.lacking import lacking
    from cinatra_sdk.postgres.migrating import look

    role, owner, rights = "NAME", "the owner of its tables", ""
    try:
        with psycopg.connect(dsn, **_OPTIONS) as connection:
            standing = look(connection)
            role, owner = standing.role, f"'{standing.owner}', who owns its tables"
            rights = ", ".join(lacking(connection))
    except psycopg.Error:
        pass  # what is known of the refusal itself is said all the same
    who = "the role of this address" if role == "NAME" else f"the role '{role}'"
    what = rights or shown_detail(dsn, str(error)) or type(error).__name__
    return StoreError(
        f"{who} lacks a right in the database {shown_name(dsn)}: {what}",
        hint=f"oasflow db migrate --app-role {role} grants it, with the address of {owner}",
    )


def _embedded() -> LocalServer:
    server = LocalServer()
    try:
        server.start()
    except LocalServerError as error:
        raise StoreError(str(error)) from None
    return server


def _owner_of(server: LocalServer) -> str:
    try:
        return server.owner_dsn()
    except LocalServerError as error:
        raise StoreError(str(error)) from None

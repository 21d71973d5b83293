"""One connection to the store's schema, and the named statements on it.

with connect(dsn) as connection:
    one(connection, "load_run", {"run_id": "r1", "tenant": None})   ->   {"run_id": "r1", …} or None
"""

from __future__ import annotations

import select
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import Connection, RawCursor
from psycopg.rows import DictRow, dict_row
from psycopg_pool import PoolTimeout

from cinatra_sdk.errors import StoreError, StoreUnreachable
from cinatra_sdk.postgres.dsn import is_address, shown_detail, shown_name
from cinatra_sdk.postgres.lenient import LENIENT
from cinatra_sdk.postgres.queries import STATEMENTS

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Connection[DictRow]

OPTIONS: Final[dict[str, Any]] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "row_factory": dict_row,
    # The isolation too, whatever the database's default is: see 006_eligible.sql.
    "options": "-c search_path=oasflow -c default_transaction_isolation=read\\ committed",
    "connect_timeout": 10,
    # A connection that the network cut off ends after a minute, and not when the kernel gives up.
    "tcp_user_timeout": 60_000,
    "application_name": "oasflow",
    "context": LENIENT,
}


def connect(dsn: str) -> Rows:
    """Raises: `StoreError` naming the database."""
    try:
        return psycopg.connect(dsn, **OPTIONS)
    except (psycopg.Error, ValueError) as error:  # a ValueError for what is no text for libpq
        failed = plain_error(dsn, error)
    # Raised out here: in the handler it would keep libpq's error, which may quote the password.
    raise failed


def refuse_ended_connection(connection: Rows) -> None:
    """Raise where the server has said something unasked, which it only does when it leaves.

    A pool's check of a connection before it is used again; costs no statement.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        connection.close()
        raise psycopg.OperationalError("the server has ended this connection")


def one(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> Row | None:
    """The first row that the named statement gives."""
    return _carry_out(connection, query, parameters).fetchone()


def every(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
    """All rows that the named statement gives."""
    return _carry_out(connection, query, parameters).fetchall()


def run(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> None:
    """The named statement, for its effect."""
    _carry_out(connection, query, parameters)


def _carry_out(
    connection: Rows, query: str, parameters: Mapping[str, Any] | None
) -> RawCursor[DictRow]:
    text, names = STATEMENTS[query]
    given = parameters or {}
    cursor: RawCursor[DictRow] = RawCursor(connection, row_factory=dict_row)
    return cursor.execute(text, [given[name] for name in names])


def clock(connection: Rows) -> datetime:
    """The database's time, with its zone."""
    told = one(connection, "tell_time")
    assert told is not None
    moment: datetime = told["now"]
    return moment


def plain_error(dsn: str, error: Exception) -> StoreError:
    """`error` as ours: the database and the cause, never the password."""
    if not is_address(dsn):
        # Not quoted: what was given may be a password.
        return StoreError(
            "the address of the database cannot be read",
            hint="give postgresql://USER@HOST/NAME, with --db or in DATABASE_URL",
        )
    state = getattr(error, "sqlstate", None)
    cause = type(error).__name__ + (f" {state}" if state else "")
    detail = shown_detail(dsn, str(error))
    away = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)
    kind = StoreUnreachable if isinstance(error, away) else StoreError
    return kind(
        f"the database {shown_name(dsn)} failed: {cause}{f': {detail}' if detail else ''}",
        hint="is it running? see oasflow db status for the local server, or name one that is with "
        "--db or in DATABASE_URL",
    )

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
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg_pool import PoolTimeout

from cinatra_sdk.errors import StoreError, StoreUnreachable
from cinatra_sdk.postgres.dsn import is_address, shown_detail, shown_name
from cinatra_sdk.postgres.lenient import LENIENT
from cinatra_sdk.postgres.queries import STATEMENTS

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Connection[DictRow]

USUAL: Final = {
    # What would end or refuse statements.
    "default_transaction_read_only": "off", "default_transaction_deferrable": "off",
    "statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
    "exit_on_error": "off", "local_preload_libraries": "", "row_security": "on",
    # What would change values on their way.
    "client_encoding": "UTF8", "DateStyle": "ISO", "IntervalStyle": "postgres", "TimeZone": "UTC",
    "bytea_output": "hex", "extra_float_digits": "1", "array_nulls": "on",
    "transform_null_equals": "off", "standard_conforming_strings": "on",
    "quote_all_identifiers": "off",
    # What would put values into the server's log, or its messages before each answer.
    "log_parameter_max_length_on_error": "0", "debug_print_parse": "off",
    "debug_print_rewritten": "off", "debug_print_plan": "off", "client_min_messages": "warning",
    # What would take longer than the statement.
    "jit": "off",
}  # fmt: skip
"""Settings of a connection that do not depend on the role: PostgreSQL lets every role set defaults of
its own for good, and the role that runs flows has no say in how the next run connects.  The address
has: its `options` count.  All are known to PostgreSQL 13 and later (see `lift_newer_limits`)."""
OURS: Final = {
    "search_path": "oasflow",
    # Whatever the database's default is: see 006_eligible.sql.
    "default_transaction_isolation": "read committed",
}
"""Settings that an address cannot change either."""


def _write_settings(settings: Mapping[str, str]) -> str:
    """As libpq takes them; a blank within a value is escaped."""
    return " ".join(
        "-c " + f"{name}={value}".replace(" ", r"\ ") for name, value in settings.items()
    )


OPTIONS: Final[dict[str, Any]] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "row_factory": dict_row,
    "options": f"{_write_settings(USUAL)} {_write_settings(OURS)}",
    "connect_timeout": 10,
    # A connection that the network cut off ends after a minute, and not when the kernel gives up.
    "tcp_user_timeout": 60_000,
    "application_name": "oasflow",
    "context": LENIENT,
}


def connect(dsn: str) -> Rows:
    """Raises: `StoreError` naming the database."""
    try:
        made: Rows = psycopg.connect(dsn, **read_options(dsn))
        lift_newer_limits(made)
    except (psycopg.Error, ValueError) as error:  # a ValueError for what is no text for libpq
        failed = plain_error(dsn, error)
    else:
        return made
    # Raised out here: in the handler it would keep libpq's error, which may quote the password.
    raise failed


def read_options(dsn: str) -> dict[str, Any]:
    """`OPTIONS` with the address's own settings in them: of those given twice the last one counts.

    Raises: `psycopg.ProgrammingError` for what is no address.
    """
    own = str(conninfo_to_dict(dsn).get("options") or "")
    if not own:
        return OPTIONS
    return {**OPTIONS, "options": f"{OPTIONS['options']} {own} {_write_settings(OURS)}"}


def lift_newer_limits(connection: Rows) -> None:
    """What `USUAL` cannot say, once for each new connection.

    A time limit that only PostgreSQL 17 and later know, which others would refuse to connect with; and
    that a commit is on the disk before it is told, where nobody asked for more than that.
    """
    run(connection, "lift_newer_limits")


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

"""One connection to the store's schema, and the named statements on it.

with connect(dsn) as connection:
    one(connection, "load_run", {"run_id": "r1", "tenant": None})   ->   {"run_id": "r1", …} or None
"""

from __future__ import annotations

import json
import re
import select
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final, LiteralString, NamedTuple, TypeAlias, cast

import psycopg
from psycopg import Connection, RawCursor
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import JsonLoader
from psycopg_pool import PoolTimeout

from cinatra_sdk.errors import StoreError, StoreUnreachable
from cinatra_sdk.postgres.dsn import is_address, shown_detail, shown_name
from cinatra_sdk.postgres.failure_causes import find_cause

# ----------------------------------------------------------------------------
# Values of rows that Python cannot take: read all the same, so that one row hides no other.
#
#     `connect(dsn, context=LENIENT)`
#     outputs '111…' (5,000 digits), or 5,000 lists in each other     ->  UNREADABLE
#     retry_at 'infinity', '4000-01-01 BC'                            ->  LATEST, EARLIEST
#
# The database takes numbers, depths and moments that no process of this project writes and that the
# role which runs flows may write.  A driver that raises at one of them lists no run of anybody.


EARLIEST: Final = datetime(2, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Not the very last moment, of which other time zones have none."""


class Unreadable:
    """Stands for JSON that cannot be read; it is no JSON, and empty."""

    def __repr__(self) -> str:
        return "UNREADABLE"

    def __bool__(self) -> bool:
        return False


UNREADABLE: Final = Unreadable()


class _LenientJson(JsonLoader):
    def load(self, data: Buffer) -> Any:
        try:
            return json.loads(bytes(data))
        except (ValueError, RecursionError):
            return UNREADABLE


class _LenientMoment(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime:
        try:
            return super().load(data)
        except (psycopg.DataError, OverflowError, ValueError):
            text = bytes(data)
            return EARLIEST if text.startswith(b"-") or text.endswith(b"BC") else LATEST


def _make_adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    for kind in ("json", "jsonb"):
        adapters.register_loader(kind, _LenientJson)
    adapters.register_loader("timestamptz", _LenientMoment)
    return adapters


LENIENT: Final = _make_adapters()


# ----------------------------------------------------------------------------
# The statements of `sql/queries.sql` by name, and the migrations beside them.
#
# QUERIES["load_run"]  ->  "select r.*, f.name as flow_name …"


_NAME: Final = re.compile(r"^-- (name|part): (\w+)\s*$", re.MULTILINE)
_PARAMETER: Final = re.compile(r"%\((\w+)\)s|%%")
_INCLUDE: Final = re.compile(r"^-- include: (\w+)\s*$", re.MULTILINE)


def _cast_statement(text: str) -> LiteralString:
    """The files are part of the package, so their text is as trustworthy as the code's own."""
    return cast("LiteralString", text.strip())  # type: ignore[redundant-cast]  # not redundant for every version


def _load_queries() -> dict[str, LiteralString]:
    text = files("cinatra_sdk.postgres").joinpath("sql/queries.sql").read_text("utf-8")
    pieces = _NAME.split(text)[1:]
    named = list(zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True))
    parts = {name: body.strip() for kind, name, body in named if kind == "part"}

    def include(body: str) -> LiteralString:
        return _cast_statement(_INCLUDE.sub(lambda found: parts[found[1]], body))

    return {name: include(body) for kind, name, body in named if kind == "name"}


class Statement(NamedTuple):
    """A statement whose parameters are numbered, as the server has them."""

    text: LiteralString
    names: tuple[str, ...]
    """Of its parameters, in their order."""


def _number_parameters(query: LiteralString) -> Statement:
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return "%" if found[0] == "%%" else f"${names.setdefault(found[1], len(names) + 1)}"

    return Statement(_cast_statement(_PARAMETER.sub(number, query)), tuple(names))


def migrations() -> list[tuple[str, LiteralString]]:
    """(version, SQL) of every migration, in order."""
    folder = files("cinatra_sdk.postgres").joinpath("sql")
    names = sorted(entry.name for entry in folder.iterdir() if re.match(r"\d{3}_", entry.name))
    return [(name[:3], _cast_statement(folder.joinpath(name).read_text("utf-8"))) for name in names]


def rights() -> LiteralString:
    """The statements that give the role `{role}` rows only."""
    return _cast_statement(
        files("cinatra_sdk.postgres").joinpath("sql/rights.sql").read_text("utf-8")
    )


QUERIES: Final = _load_queries()

STATEMENTS: Final = {name: _number_parameters(query) for name, query in QUERIES.items()}
"""The same statements by name, prepared for `psycopg.RawCursor`.

psycopg parses a statement with named parameters again at each call where it is long, which takes
longer than to carry it out.
"""


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
has: its `options` count.  All are known to PostgreSQL 13 and later (see `greet`)."""
OURS: Final = {
    "search_path": "oasflow",
    # Whatever the database's default is: see 006_eligible.sql.
    "default_transaction_isolation": "read committed",
}
"""Settings that an address cannot change either."""
LATER: Final = {"synchronous_commit": "on"}
"""What a connection is given once it is made, where its role's own says less; see `greet`."""


def _write_settings(settings: Mapping[str, str]) -> str:
    """As libpq takes them; a blank within a value is escaped."""
    return " ".join(
        "-c " + f"{name}={value}".replace(" ", r"\ ") for name, value in settings.items()
    )


NOTICED: Final = {
    # A connection that the network cut off ends after a minute, and not when the kernel gives up.
    "tcp_user_timeout": 60_000,
    # And one that nothing is sent on, during a long call, is kept from being cut off, or found so as soon.
    "keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3,
}  # fmt: skip
"""How a cut connection is noticed; an address may say otherwise, parameter by parameter."""

OPTIONS: Final[dict[str, Any]] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "row_factory": dict_row,
    "options": f"{_write_settings(USUAL)} {_write_settings(OURS)}",
    "connect_timeout": 10,
    **NOTICED,
    "application_name": "oasflow",
    "context": LENIENT,
}


def connect(dsn: str) -> Rows:
    """Raises: `StoreError` naming the database, or what a pooler before it lacks."""
    try:
        made = _connect(dsn)
        greet(made, dsn)
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
    given = conninfo_to_dict(dsn)
    options = {
        name: value for name, value in OPTIONS.items() if name not in NOTICED or name not in given
    }
    own = str(given.get("options") or "")
    if own:
        options["options"] = f"{OPTIONS['options']} {own} {_write_settings(OURS)}"
    return options


def greet(connection: Rows, dsn: str) -> None:
    """What `USUAL` cannot say, once for each new connection; and whether a pooler stands between.

    A time limit that only PostgreSQL 17 and later know, which others would refuse to connect with; and
    that a commit is on the disk before it is told, where nobody asked for more than that.

    Raises: `StoreError` where the connections of a pooler lack settings; then the connection is closed.
    """
    told = _carry_out(connection, "greet", {"pid": connection.info.backend_pid}, prepare=False)
    row = told.fetchone()
    assert row is not None  # one row always
    if row["is_pooled"] or is_pooled(connection):
        connection.prepare_threshold = None
        _refuse_other_settings(connection, dsn)


# ----------------------------------------------------------------------------
# Connections through a pooler (PgBouncer and its like), which lends another connection to the server for
# each transaction, or for each session.
#
#     is_pooled(connection)     True where the process at the other end is not the one that said hello
#
# On such a connection nothing is kept that belongs to a session: no setting, lock, prepared statement or
# `listen`.  The pooler sees to the settings (`oasflow db pooler`), and it is refused where it does not.


_REFUSALS: Final = ("startup parameter", "command-line options")
"""Words of poolers that take no `options`."""
_FOLLOWED: Final = (
    "client_encoding", "DateStyle", "IntervalStyle", "TimeZone", "standard_conforming_strings",
)  # fmt: skip
"""Settings that a pooler gives each client as the client set them, whatever the server began with."""
_OPTION: Final = re.compile(r"(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)")


def is_pooled(connection: Rows) -> bool:
    """Known from `greet` on, which turns prepared statements off behind a pooler and nowhere else."""
    return connection.prepare_threshold is None


def read_pooled_options(dsn: str) -> dict[str, Any]:
    """As `read_options`, without what a pooler would refuse or keep from the server."""
    # Not left out: libpq would send the address's own, or those of PGOPTIONS.
    left_out = {"options": "", "client_encoding": USUAL["client_encoding"]}
    return {**read_options(dsn), **left_out, "prepare_threshold": None}


def _connect(dsn: str) -> Rows:
    try:
        return psycopg.connect(dsn, **read_options(dsn))
    except psycopg.OperationalError as error:
        if not any(words in str(error) for words in _REFUSALS):
            raise
    return psycopg.connect(dsn, **read_pooled_options(dsn))


def list_settings(dsn: str) -> dict[str, str]:
    """What a connection to this address has to begin with, its own `options` among it."""
    own = str(conninfo_to_dict(dsn).get("options") or "")
    found = {
        name.replace("-", "_"): re.sub(r"\\(.)", r"\1", value)
        for name, value in _OPTION.findall(own)
    }
    return {**USUAL, **found, **OURS}


def _refuse_other_settings(connection: Rows, dsn: str) -> None:
    wanted = list_settings(dsn)
    followed = {name: wanted[name] for name in _FOLLOWED}
    run(connection, "set_followed", {"wanted": json.dumps(followed)})
    rows = every(connection, "list_other_settings", {"wanted": json.dumps(wanted)})
    if not rows:
        return
    connection.close()
    # By name alone: the address's own values are nobody else's business.
    names = ", ".join(row["name"] for row in rows)
    raise StoreError(
        f"the database {shown_name(dsn)} is reached through a pooler, whose connections to the server "
        f"begin without settings that oasflow needs: {names}",
        hint="oasflow db pooler prints what sets them there; or give the server's own address",
    )


def refuse_ended_connection(connection: Rows) -> None:
    """Raise where the server has said something unasked, which it only does when it leaves.

    A pool's check of a connection before it is used again; costs no statement.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        connection.close()
        raise psycopg.OperationalError("the server has ended this connection")


@contextmanager
def reading(connection: Rows) -> Iterator[None]:
    """A transaction in which the database itself sees to it that nothing changes."""
    connection.read_only = True
    with connection.transaction():
        yield


def one(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> Row | None:
    """The first row that the named statement gives."""
    return _carry_out(connection, query, parameters).fetchone()


def every(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
    """All rows that the named statement gives."""
    return _carry_out(connection, query, parameters).fetchall()


def run(connection: Rows, query: str, parameters: Mapping[str, Any] | None = None) -> None:
    """The named statement, for its effect."""
    _carry_out(connection, query, parameters)


_PLANNED_ANEW: Final = frozenset({"list_runs", "find_runs"})
"""Statements whose conditions may be absent, or name the beginning of a text: a plan for any values reads
whole tables where the plan for these reads a few pages."""


def _carry_out(
    connection: Rows,
    query: str,
    parameters: Mapping[str, Any] | None,
    *,
    prepare: bool | None = None,
) -> RawCursor[DictRow]:
    """prepare: None: as the connection does, which prepares each statement."""
    text, names = STATEMENTS[query]
    given = parameters or {}
    cursor: RawCursor[DictRow] = RawCursor(connection, row_factory=dict_row)
    values = [given[name] for name in names]
    return cursor.execute(text, values, prepare=False if query in _PLANNED_ANEW else prepare)


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
    kind_of_error = type(error).__name__ + (f" {state}" if state else "")
    detail = shown_detail(dsn, str(error))
    cause = find_cause(error)
    away = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)
    kind = StoreUnreachable if isinstance(error, away) else StoreError
    what = f"{cause.what} ({kind_of_error})" if cause is not None else kind_of_error
    return kind(
        f"the database {shown_name(dsn)} failed: {what}{f': {detail}' if detail else ''}",
        hint=cause.fix if cause is not None else "",
    )

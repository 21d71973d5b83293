"""The database of a run store: its address, tables and connections.

In: a DSN, or nothing.  Out: connections whose `search_path` is the schema `oasflow`.

    Database.open()            # DATABASE_URL, else the embedded server, started if need be

Opening a database whose tables are up to date changes nothing in it, so a role that may only use
rows, or a read-only copy, is enough; see `migrating` for other databases.

Each pool of connections belongs to one process: a forked child opens its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from cinatra_sdk.errors import InputInvalid, NotReplicated, StoreError, StoreUnreachable
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.local_postgres.cluster import APP
from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError
from cinatra_sdk.postgres.connection import (
    Rows,
    clock,
    connect,
    greet,
    is_pooled,
    one,
    read_options,
    read_pooled_options,
    refuse_ended_connection,
)
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.migration import migrate, outdated, prepare
from cinatra_sdk.postgres.notifications import DUE_CHANNEL, Listening

_LEFT_ALONE: Final[list[ConnectionPool[Rows]]] = []
"""Pools of the processes before: kept, because a pool that is given up talks to its threads."""


class _Held:
    """What one process holds; the lock with it, which another thread may have held at the fork."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.pool: ConnectionPool[Rows] | None = None


class OwnPool:
    """Safe to share between threads and with forked processes; connects when it is first used."""

    def __init__(self, dsn: str, *, is_pooled: bool = False, **settings: Any) -> None:
        """is_pooled: whether the address is that of a pooler; settings: of the `ConnectionPool`."""
        self._dsn = dsn
        self._read_options = read_pooled_options if is_pooled else read_options
        self._settings = settings
        self._held = _Held()

    def get(self) -> ConnectionPool[Rows]:
        """The open pool of this process."""
        held = self._find_held()
        with held.lock:
            if held.pool is None:
                pool = held.pool = ConnectionPool(
                    self._dsn, kwargs=self._read_options(self._dsn), open=False,
                    configure=partial(greet, dsn=self._dsn), check=refuse_ended_connection,
                    **self._settings,
                )  # fmt: skip
                pool.open()
            return held.pool

    def close(self) -> None:
        """Close the connections of this process; those of others stay."""
        held = self._find_held()
        with held.lock:
            pool, held.pool = held.pool, None
        if pool is not None:
            pool.close()

    def _find_held(self) -> _Held:
        held = self._held
        if held.process == os.getpid():
            return held
        if held.pool is not None:
            _LEFT_ALONE.append(held.pool)
        # Of two threads that notice the fork at once, one may use a pool that is given up after it.
        made = self._held = _Held()
        return made


# ----------------------------------------------------------------------------
# Connections for activations: bounded in number, and used again.
#
#     with connections.take() as connection:
#         …                                  # nobody else uses it; whoever locks in it, unlocks
#
# A connection that its server ended while nobody used it is never handed out.


BOUND: Final = 16
"""Activations at once in one store; further ones wait for their turn."""
PATIENCE: Final = 60.0
"""Seconds that an activation waits for a connection."""
IDLE: Final = 60.0
"""Seconds after which a connection that nobody uses is closed."""


class WorkConnections:
    """Safe to share between threads; connects when the first activation begins."""

    def __init__(self, dsn: str, *, is_pooled: bool = False) -> None:
        self._pool = OwnPool(
            dsn, is_pooled=is_pooled, min_size=0, max_size=BOUND, timeout=PATIENCE, max_idle=IDLE
        )

    @contextmanager
    def take(self) -> Iterator[Rows]:
        """Raises: `StoreUnreachable` where no connection is free in time."""
        pool = self._pool.get()
        try:
            connection = pool.getconn()
        except PoolTimeout:
            raise StoreUnreachable(
                f"no connection was free for {PATIENCE:.0f} seconds: {BOUND} runs at once are worked "
                "on in this process, or the database cannot be reached",
                hint="what was decided is kept; resume the run, or see oasflow db status",
            ) from None
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def close(self) -> None:
        self._pool.close()


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
    due_news: Listening = field(repr=False)
    """Sweeps that wait for runs that become due; all subscribe to ""."""

    @classmethod
    def open(cls, dsn: str | None = None, *, durability: Durability | None = None) -> Database:
        """Connect; brings the tables up to date where the role may.

        `dsn` None: `DATABASE_URL`, else the embedded server.  `durability` None: `OASFLOW_DURABILITY`,
        else `disk`.

        Raises: `StoreError`, which names `oasflow db migrate` where the tables are not up to date and the
        role only has rows; `NotReplicated`; `InputInvalid` for another word for durability.
        """
        demanded = read_durability(durability)
        address, embedded = dsn or os.environ.get("DATABASE_URL") or "", None
        if not address:
            embedded = _start_embedded_server()
            address = embedded.dsn()
        if demanded == "standby":
            address = demand_standby(address)
        with _connect_first(address, embedded) as connection:
            _prepare_tables(connection, embedded)
            _refuse_unconfirmed(connection)
            pooled = is_pooled(connection)
        pool = OwnPool(address, is_pooled=pooled, min_size=1, max_size=8, timeout=10)
        pool.get()
        return cls(
            dsn=address, pool=pool, work=WorkConnections(address, is_pooled=pooled),
            news=Listening(address, is_pooled=pooled),
            due_news=Listening(address, DUE_CHANNEL, is_pooled=pooled),
        )  # fmt: skip

    def close(self) -> None:
        self.news.close()
        self.due_news.close()
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
            with self.pool.get().connection() as connection, confirming(connection):
                yield connection
        except UnicodeError:
            raise StoreError("a name or id holds characters that no database takes") from None
        except (psycopg.Error, PoolTimeout) as error:
            raise store_error(self.dsn, error) from None

    @contextmanager
    def own_connection(self) -> Iterator[Rows]:
        """A connection for one activation, which nobody else uses."""
        try:
            with self.work.take() as connection, confirming(connection):
                yield connection
        except psycopg.Error as error:
            raise store_error(self.dsn, error) from None


# ----------------------------------------------------------------------------
# The demand that a synchronous standby confirms every write that is acknowledged.
#
#     Database.open(dsn, durability="standby")      NotReplicated where no such standby is named
#
# The demand is part of the address, so every connection brings it along; `sql/029_bad_days.sql` asks before
# each write, and the commit itself waits for the standby.  PostgreSQL takes a wait that somebody cancels for
# a commit, and only warns: that warning is an error here.


Durability: TypeAlias = Literal["disk", "standby"]
"""When a write is acknowledged: on the disk of the server, or of a synchronous standby, too."""
DURABILITY_VARIABLE: Final = "OASFLOW_DURABILITY"
_DEMAND: Final = "-coasflow.durability=standby -csynchronous_commit=on"
_WAIT: Final = "SyncRepWaitForLSN"
"""The function of PostgreSQL that warns of a wait that was cancelled, in whatever language."""


def read_durability(given: str | None) -> Durability:
    """What was given, else what the variable says.  Raises: `InputInvalid`."""
    word = given or os.environ.get(DURABILITY_VARIABLE) or "disk"
    for known in get_args(Durability):
        if word == known:
            return cast("Durability", known)
    raise InputInvalid(
        f"no durability is called '{word}'", hint=f"one of {', '.join(get_args(Durability))}"
    )


def demand_standby(address: str) -> str:
    """The address with the demand in it; one that cannot be read stays, and fails as it is."""
    try:
        own = str(conninfo_to_dict(address).get("options") or "")
        return make_conninfo(address, options=f"{_DEMAND} {own}".strip())
    except (psycopg.Error, UnicodeError):
        return address


def _refuse_unconfirmed(connection: Rows) -> None:
    """Raises: `NotReplicated` where a standby is demanded, and none could confirm anything."""
    row = one(connection, "load_durability")
    if row is None or row["demanded"] != "standby" or row["in_recovery"]:
        return
    if not row["standbys"]:
        why, fix = "synchronous_standby_names is empty", "name the standby in it"
    elif row["commits"] not in ("on", "remote_apply"):
        why = f"synchronous_commit is {row['commits']}"
        fix = "leave it out of the address, or say remote_apply"
    else:
        return
    raise NotReplicated(
        f"a synchronous standby is demanded of the database '{row['database']}', and {why}",
        hint=f"{fix}, or demand less: durability='disk'",
    )


@contextmanager
def confirming(connection: Rows) -> Iterator[None]:
    """Raises: `NotReplicated` at its end where a commit in it did not wait for the standby to the end."""
    cancelled: list[str] = []

    def notice(told: psycopg.errors.Diagnostic) -> None:
        if told.source_function == _WAIT:
            cancelled.append(_WAIT)

    connection.add_notice_handler(notice)
    try:
        yield
    finally:
        connection.remove_notice_handler(notice)
    if cancelled:
        raise NotReplicated(
            "the wait for the standby was cancelled: this server keeps what was written, and nobody "
            "knows whether the standby does",
            hint="see that a standby follows (pg_stat_replication), and look whether it is there",
        )


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


def _prepare_tables(connection: Rows, embedded: LocalServer | None) -> None:
    """Raises: `StoreError` where they are not up to date, and nobody here may bring them."""
    if prepare(connection, embedded=embedded is not None):
        return
    if embedded is None:
        raise outdated(connection)
    migrate(_owner_of(embedded), app_role=APP)


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

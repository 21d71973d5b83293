"""A pool of connections that belongs to one process: a forked child opens a pool of its own.

    pool = OwnPool(dsn, max_size=8)
    with pool.get().connection() as connection:
        …                                          # of this process, also in a child of a fork

A child that used the connections of its parent would read the answers to the parent's statements, and the
end of the child would tell the server that the parent leaves.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from psycopg_pool import ConnectionPool, PoolTimeout

from cinatra_sdk.errors import StoreUnreachable
from cinatra_sdk.postgres.connection import (
    Rows,
    lift_newer_limits,
    read_options,
    refuse_ended_connection,
)

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

    def __init__(self, dsn: str, **settings: Any) -> None:
        """settings: of the `ConnectionPool`."""
        self._dsn = dsn
        self._settings = settings
        self._held = _Held()

    def get(self) -> ConnectionPool[Rows]:
        """The open pool of this process."""
        held = self._find_held()
        with held.lock:
            if held.pool is None:
                held.pool = ConnectionPool(
                    self._dsn, kwargs=read_options(self._dsn), open=False,
                    configure=lift_newer_limits, check=refuse_ended_connection,
                    **self._settings,
                )  # fmt: skip
                held.pool.open()
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

    def __init__(self, dsn: str) -> None:
        self._pool = OwnPool(dsn, min_size=0, max_size=BOUND, timeout=PATIENCE, max_idle=IDLE)

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

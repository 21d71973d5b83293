"""Connections for activations: bounded in number, and used again.

    with connections.take() as connection:
        …                                  # nobody else uses it; whoever locks in it, unlocks

A connection that its server ended while nobody used it is never handed out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from psycopg_pool import ConnectionPool, PoolTimeout

from cinatra_sdk.errors import StoreUnreachable
from cinatra_sdk.postgres.connection import OPTIONS, Rows, refuse_ended_connection

BOUND: Final = 16
"""Activations at once in one store; further ones wait for their turn."""
PATIENCE: Final = 60.0
"""Seconds that an activation waits for a connection."""
IDLE: Final = 60.0
"""Seconds after which a connection that nobody uses is closed."""


class WorkConnections:
    """Safe to share between threads; connects when the first activation begins."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._pool: ConnectionPool[Rows] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def take(self) -> Iterator[Rows]:
        """Raises: `StoreUnreachable` where no connection is free in time."""
        pool = self._open_pool()
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
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _open_pool(self) -> ConnectionPool[Rows]:
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._dsn, kwargs=OPTIONS, min_size=0, max_size=BOUND, timeout=PATIENCE,
                    max_idle=IDLE, open=False, check=refuse_ended_connection,
                )  # fmt: skip
                self._pool.open()
            return self._pool

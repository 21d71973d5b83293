"""Connections for activations: bounded in number, and used again.

    with connections.take() as connection:
        …                                  # nobody else uses it; whoever locks in it, unlocks

A connection that its server ended while nobody used it is never handed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from psycopg_pool import PoolTimeout

from cinatra_sdk.errors import StoreUnreachable
from cinatra_sdk.postgres.connection import Rows
from cinatra_sdk.postgres.own_pool import OwnPool

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

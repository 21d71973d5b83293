"""A pool of connections that belongs to one process: a process that was forked since opens its own.

    pool = OwnPool(dsn, max_size=8)
    with pool.get().connection() as connection:
        …                                          # of this process, also in a child of a fork

A child that used its parent's connections would read the answers to its parent's statements, and its
end would tell the server that the parent leaves.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final

from psycopg_pool import ConnectionPool

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

"""One worker at a time on a run: claimed by one statement, held by a lease, proved by a fence.

    with claims.claim("r1", wait=30) as (connection, claim):     # RunBusy after 30 seconds
        RunSaver(connection, fence=claim.fence, …)

A worker holds the run's advisory lock, on the connection that its checkpoints go through: when its
process dies the lock is free at once.  A process that was stopped (SIGSTOP) keeps its lock; when its
lease has run out, the next worker ends its connection where it may and takes the run over by the
fence alone.  Every write compares the fence, so whoever was overtaken writes nothing.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from cinatra_sdk.errors import FenceLost, RunBusy, RunNotFound
from cinatra_sdk.postgres.connection import Row, Rows, one, run
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.store.work.flushing import Flushing
from cinatra_sdk.store.work.heartbeat import Heart

log = logging.getLogger("oasflow.store")

LEASE_SECONDS: Final = 30.0
"""How long a worker that gives no sign of life keeps a run from others."""

_PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Seconds between attempts to get the lock of a connection that was just ended."""


@dataclass(slots=True, kw_only=True)
class Claim:
    """The right to work on a run, until a later claim has a higher fence."""

    run_id: str
    fence: int
    row: Row
    """The run's row, as the statement `claim_run` gives it; its status may be a moment old."""

    @property
    def has_begun(self) -> bool:
        """Whether the run counts as worked on since: it goes on, and is as the caller knows it."""
        return self.row["begun_attempts"] is not None

    is_released: bool = False
    """Whether the statement that ended the work released the run, too."""


class Claims:
    """Claims of one store; safe to share between threads."""

    def __init__(self, database: Database, *, lease: float = LEASE_SECONDS) -> None:
        self.database = database
        self._lease = lease
        self._heart = Heart(database, lease=lease)
        self.flushing = Flushing()

    def close(self) -> None:
        self.flushing.close()
        self._heart.close()

    @contextmanager
    def claim(
        self, run_id: str, *, wait: float, attempts: int | None = None
    ) -> Iterator[tuple[Rows, Claim]]:
        """A connection that holds the run, and the claim; the run is released at the end.

        attempts: the run's number of attempts as the caller knows it.

        Raises: `RunBusy` after `wait` seconds, `RunNotFound`, `StoreError`.
        """
        with self.database.own_connection() as connection:
            claim = None
            try:
                claim = self._take(connection, run_id, wait, attempts)
                with self._heart.beating(run_id, fence=claim.fence):
                    yield connection, claim
            finally:
                if claim is None or not claim.is_released:
                    _release(connection)

    def _take(self, connection: Rows, run_id: str, wait: float, attempts: int | None) -> Claim:
        deadline = time.monotonic() + wait
        pause = 0.01
        about = {"run_id": run_id, "attempts": attempts}
        asked: dict[str, Any] = {**about, "worker": _own_name(), "lease": self._lease}
        while True:
            row = one(connection, "claim_run", asked)
            if row is None:
                raise RunNotFound(f"there is no run '{run_id}'", hint="see oasflow runs")
            if row["claimed_fence"] is not None:
                claim = Claim(run_id=run_id, fence=row["claimed_fence"], row=row)
                if not row["locked"]:
                    _take_over(connection, claim)
                return claim
            if time.monotonic() >= deadline:
                raise RunBusy(
                    f"another process is working on run '{run_id}'",
                    hint="what was decided is kept; try again, or see oasflow show",
                )
            time.sleep(pause)
            pause = min(pause * 2, 0.5)


def _release(connection: Rows) -> None:
    """Release the connection's locks; where that fails, nobody uses the connection again."""
    if connection.closed or connection.broken:
        return
    try:
        run(connection, "release_session")
    except psycopg.Error:
        connection.close()


def _take_over(connection: Rows, claim: Claim) -> None:
    """End the connection of a worker whose lease has run out, and take its lock.

    Neither has to succeed, because the fence has moved already.
    """
    about: dict[str, Any] = {"run_id": claim.run_id, "fence": claim.fence}
    log.warning("run '%s' is taken over from a worker that gave no sign of life", claim.run_id)
    with suppress(psycopg.errors.InsufficientPrivilege):
        run(connection, "end_holder", {**about, "previous": claim.row["previous_pid"]})
    for pause in _PAUSES:
        if (one(connection, "lock_run", about) or {}).get("locked"):
            return
        time.sleep(pause)
    run(connection, "hold_by_lease", about)


def build_fence_error(run_id: str) -> FenceLost:
    return FenceLost(
        f"another worker goes on with run '{run_id}'",
        hint="this process was stopped for longer than its lease; see oasflow show",
    )


def _own_name() -> str:
    """The name of this process, for people who look at who works on a run."""
    return f"{socket.gethostname()}:{os.getpid()}"

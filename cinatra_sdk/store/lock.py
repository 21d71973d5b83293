"""One activation of a run at a time: a Postgres advisory lock on the activation's own connection.

with locked(connection, "r1", wait=30): …   # RunBusy after 30 seconds
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from cinatra_sdk.errors import (
    RunBusy,
)
from cinatra_sdk.postgres.connection import Rows, one
from cinatra_sdk.postgres.connection import run as execute


@contextmanager
def locked(connection: Rows, run_id: str, wait: float) -> Iterator[None]:
    """Hold the run's lock; raises `RunBusy` after `wait` seconds."""
    deadline = time.monotonic() + wait
    pause = 0.01
    while not (one(connection, "lock_run", {"run_id": run_id}) or {}).get("locked"):
        if time.monotonic() >= deadline:
            raise RunBusy(
                f"another process is working on run '{run_id}'",
                hint="what was decided is kept; try again, or see oasflow show",
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.5)
    try:
        yield
    finally:
        if not connection.closed and not connection.broken:
            execute(connection, "unlock_run", {"run_id": run_id})


def is_free(connection: Rows, run_id: str) -> bool:
    """Whether nobody holds the run's lock right now."""
    key = {"run_id": run_id}
    if not (one(connection, "lock_run", key) or {}).get("locked"):
        return False
    execute(connection, "unlock_run", key)
    return True

"""The heartbeat of the runs that a store works on: one thread, one statement for all of them.

    heart = Heart(database, lease=30.0)
    with heart.beating("r1", fence=7): …     # the lease of run r1 is renewed every 10 seconds

Without it everything stays right, because writes compare the fence: an activation that takes longer
than its lease may then be taken over by another worker.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cinatra_sdk.errors import StoreError
from cinatra_sdk.postgres.connection import run
from cinatra_sdk.postgres.database import Database

log = logging.getLogger("oasflow.store")

BEATS: Final = 3
"""Times that a lease is renewed before it would run out."""


class Heart:
    """Safe to share between threads."""

    def __init__(self, database: Database, *, lease: float) -> None:
        self._database = database
        self._lease = lease
        self._process = os.getpid()
        self._held: dict[str, int] = {}
        """Run → fence of the runs that are worked on."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    @contextmanager
    def beating(self, run_id: str, *, fence: int) -> Iterator[None]:
        if self._process != os.getpid():
            # A fork: the runs are its parent's, and so is the lock, perhaps in the hands of a thread
            # that did not come along.
            self._process, self._held, self._lock = os.getpid(), {}, threading.Lock()
        with self._lock:
            self._held[run_id] = fence
            self._start_thread()
        try:
            yield
        finally:
            with self._lock:
                if self._held.get(run_id) == fence:
                    del self._held[run_id]

    def close(self) -> None:
        self._closed.set()

    def beat(self) -> None:
        """Renew the lease of every run that is worked on here."""
        with self._lock:
            held = dict(self._held)
        if not held:
            return
        with self._database.connection() as connection:
            run(
                connection,
                "beat",
                {"run_ids": list(held), "fences": list(held.values()), "lease": self._lease},
            )

    def _start_thread(self) -> None:
        # Not alive any more in a process that was forked since.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._beat_on, name="oasflow-heart", daemon=True)
            self._thread.start()

    def _beat_on(self) -> None:
        while not self._closed.wait(self._lease / BEATS):
            try:
                self.beat()
            except StoreError as error:
                log.warning("the leases of runs were not renewed: %s", error)

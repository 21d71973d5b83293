"""One worker at a time on a run: claimed by one statement, held by a lease, proved by a fence.

    with claims.claim("r1", wait=30) as (connection, claim):     # RunBusy after 30 seconds
        RunSaver(connection, fence=claim.fence, …)

The lease is what counts.  A worker also holds the advisory lock of the run, on the connection of its
checkpoints: when the worker's process dies, the lock is free at once, and nobody waits for the lease.  Where
another session has that lock, and behind a pooler, where locks are nobody's, the run is held by the lease
alone.  A stopped process (SIGSTOP) keeps its lock.  When its lease has run
out, the next worker ends that connection where it may, and takes the run over by the fence alone.  Every
write compares the fence, so a worker that was overtaken writes nothing.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import Any, Final, Protocol

import psycopg

from cinatra_sdk.errors import FenceLost, ProcessEnding, RunBusy, RunNotFound, StoreError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every, one, run
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.work.brakes import PAUSED, Brake, Brakes

# ----------------------------------------------------------------------------
# The heartbeat of the runs that a store works on: one thread, one statement for all of them.
#
#     `heart = Heart(database, lease=30.0)`
#     with heart.beating("r1", fence=7, brake=brake): …   # the lease of run r1 is renewed every 10 seconds
#
# It also pulls the brake of a run that somebody paused elsewhere, and lets go of a run whose connection was
# cut off, so that whoever goes on with it takes it from nobody that died.
#
# Without it everything stays right, because writes compare the fence: an activation that takes longer
# than its lease may then be taken over by another worker.


log = logging.getLogger("oasflow.store")

BEATS: Final = 3
"""Times that a lease is renewed before it would run out."""
AGAIN: Final = 1.0
"""Seconds between two attempts to let go of a run while the database cannot be reached."""


class Heart:
    """Safe to share between threads."""

    def __init__(self, database: Database, *, lease: float) -> None:
        self._database = database
        self._lease = lease
        self._begin_empty()
        self._is_closed = False

    def _begin_empty(self) -> None:
        self._process = os.getpid()
        self._held: dict[str, tuple[int, Brake]] = {}
        """Run → fence and brake of the runs that are worked on."""
        self._cut_off: dict[str, int] = {}
        """Run → fence of those that could not be let go of yet."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._woken = threading.Event()

    @contextmanager
    def beating(self, run_id: str, *, fence: int, brake: Brake | None = None) -> Iterator[None]:
        """brake: pulled where somebody paused the run."""
        if self._process != os.getpid():
            # A fork: the runs are its parent's, and so is the lock, perhaps in the hands of a thread
            # that did not come along.
            self._begin_empty()
        held = fence, Brake() if brake is None else brake
        with self._lock:
            self._held[run_id] = held
            self._start_thread()
        try:
            yield
        finally:
            with self._lock:
                if self._held.get(run_id) is held:
                    del self._held[run_id]

    def close(self) -> None:
        self._is_closed = True
        self._woken.set()

    def beat(self) -> None:
        """Renew the lease of every run that is worked on here; the brakes of paused ones are pulled."""
        with self._lock:
            held = dict(self._held)
        if not held:
            return
        fences = [fence for fence, _ in held.values()]
        asked = {"run_ids": list(held), "fences": fences, "lease": self._lease}
        with self._database.connection() as connection:
            for row in every(connection, "beat", asked):
                if row["paused"]:
                    held[row["run_id"]][1].pull(PAUSED)

    def let_go(self, run_id: str, fence: int) -> None:
        """Release a run whose own connection was cut off, as soon as the database can be reached."""
        with self._lock:
            self._cut_off[run_id] = fence
            self._start_thread()
        self._woken.set()

    def _release_cut_off(self) -> None:
        with self._lock:
            left = dict(self._cut_off)
        for run_id, fence in left.items():
            with self._database.connection() as connection:
                run(connection, "release_claim", {"run_id": run_id, "fence": fence})
            with self._lock:
                if self._cut_off.get(run_id) == fence:
                    del self._cut_off[run_id]

    def _start_thread(self) -> None:
        # Not alive any more in a process that was forked since.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._beat_on, name="oasflow-heart", daemon=True)
            self._thread.start()

    def _beat_on(self) -> None:
        due = time.monotonic() + self._lease / BEATS
        while True:
            wait = due - time.monotonic()
            self._woken.wait(max(0.0, min(wait, AGAIN) if self._cut_off else wait))
            self._woken.clear()
            if self._is_closed:
                return
            try:
                self._release_cut_off()
                if time.monotonic() >= due:
                    due = time.monotonic() + self._lease / BEATS
                    self.beat()
            except StoreError as error:
                log.warning("the leases of runs were not renewed: %s", error)


PAUSE: Final = 0.2
"""Seconds between two looks at a saver."""
THREADS: Final = 3


class Flushed(Protocol):
    """What is flushed: `cinatra_sdk.store.work.saver.RunSaver`."""

    @property
    def run_id(self) -> str: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Flushing:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._begin_empty()
        self._is_closed = False

    def _begin_empty(self) -> None:
        self._process = os.getpid()
        self._due: dict[Flushed, float] = {}
        """Saver → when it is looked at next."""
        self._busy: set[Flushed] = set()
        self._changed = threading.Condition()
        self._wakes: dict[int, float] = {}
        """Sleeping thread → when it wakes by itself."""
        self._threads: list[threading.Thread] = []

    @contextmanager
    def watching(self, saver: Flushed) -> Iterator[None]:
        if self._process != os.getpid():
            self._begin_empty()  # a fork: neither its parent's threads nor its runs came along
        with self._changed:
            due = self._due[saver] = time.monotonic() + PAUSE
            if len(self._threads) < min(THREADS, len(self._due)):
                self._start_thread()
            # Most activations end before their saver is due: no thread is woken for each of them.
            if all(wakes > due for wakes in self._wakes.values()):
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due.pop(saver, None)
            saver.close()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._flush_on, name="oasflow-flushing", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _flush_on(self) -> None:
        while (saver := self._take_due()) is not None:
            _flush(saver)
            self._give_back(saver)

    def _take_due(self) -> Flushed | None:
        """The saver whose time has come; None: the thread ends."""
        with self._changed:
            was_idle = False
            while not self._is_closed:
                free = [saver for saver in self._due if saver not in self._busy]
                saver = min(free, key=self._due.__getitem__, default=None)
                if saver is not None:
                    wait = self._due[saver] - time.monotonic()
                    if wait <= 0:
                        self._busy.add(saver)
                        return saver
                    was_idle = False
                    self._sleep(wait)
                else:
                    # Once more soon: where activations follow each other, nobody has to wake it.
                    self._sleep(math.inf if was_idle else PAUSE)
                    was_idle = True
        return None

    def _sleep(self, seconds: float) -> None:
        own = threading.get_ident()
        self._wakes[own] = time.monotonic() + seconds
        self._changed.wait(None if seconds == math.inf else seconds)
        del self._wakes[own]

    def _give_back(self, saver: Flushed) -> None:
        with self._changed:
            self._busy.discard(saver)
            if saver in self._due:
                self._due[saver] = time.monotonic() + PAUSE


def _flush(saver: Flushed) -> None:
    try:
        saver.flush()
    except (FenceLost, psycopg.Error):
        # The activation meets the same with its next write, and says so.
        log.debug("a flush of run '%s' was refused", saver.run_id)
    except Exception:
        # The threads store for every run of the process, and go on for the others.
        log.exception("a flush of run '%s' failed", saver.run_id)


_NO_FENCE: Final = -1
"""Of a run that was not taken; no row has it."""
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

    @property
    def is_taken(self) -> bool:
        """Whether the run is this process's; not where it had ended, or was worked on since."""
        return self.fence != _NO_FENCE

    is_released: bool = False
    """Whether the statement that ended the work released the run, too."""
    is_left: bool = False
    """Whether the work stopped before a step, at its brake."""
    brake: Brake = field(default_factory=Brake)


class Claims:
    """Claims of one store; safe to share between threads."""

    def __init__(self, database: Database, *, lease: float = LEASE_SECONDS) -> None:
        self.database = database
        self._lease = lease
        self._heart = Heart(database, lease=lease)
        self.flushing = Flushing()
        self.brakes = Brakes()

    def refuse_drained(self) -> None:
        """Raise `ProcessEnding` where no further work is taken."""
        if self.brakes.is_draining:
            raise ProcessEnding(
                "this process ends, and works on no further run",
                hint="nothing is lost: whoever works on the run next goes on with it",
            )

    def close(self) -> None:
        self.flushing.close()
        self._heart.close()

    @contextmanager
    def claim(
        self, run_id: str, *, wait: float, attempts: int | None = None
    ) -> Iterator[tuple[Rows, Claim]]:
        """A connection that holds the run, and the claim; the run is released at the end.

        attempts: the run's number of attempts as the caller knows it.  Where the run has ended, or was
                  worked on since, it is not taken: the claim has not begun, and nothing was written.

        Raises: `RunBusy` after `wait` seconds, `RunNotFound`, `StoreError`.
        """
        with self.database.own_connection() as connection:
            claim = None
            try:
                claim = self._take(connection, run_id, wait, attempts)
                taken = claim if claim.is_taken else None
                with self._holding(run_id, taken):
                    yield connection, claim
            finally:
                taken = claim if claim is not None and claim.is_taken else None
                is_released = taken is not None and taken.is_released
                if not is_released and not _release(connection, taken) and taken is not None:
                    self._heart.let_go(run_id, taken.fence)

    @contextmanager
    def _holding(self, run_id: str, taken: Claim | None) -> Iterator[None]:
        """While the run is worked on: its lease is renewed, and its brake is known; None: it was not taken."""
        if taken is None:
            yield
            return
        beating = self._heart.beating(run_id, fence=taken.fence, brake=taken.brake)
        with self.brakes.holding(run_id, taken.brake), beating:
            yield

    def _take(self, connection: Rows, run_id: str, wait: float, attempts: int | None) -> Claim:
        deadline = time.monotonic() + wait
        pause = 0.01
        about = {"run_id": run_id, "attempts": attempts}
        asked: dict[str, Any] = {**about, "worker": _own_name(), "lease": self._lease}
        asked["pid"] = connection.info.backend_pid
        while True:
            row = one(connection, "claim_run", asked)
            if row is None:
                raise RunNotFound(f"there is no run '{run_id}'", hint="see oasflow runs")
            if row["claimed_fence"] is None and not row["is_wanted"]:
                return Claim(run_id=run_id, fence=_NO_FENCE, row=row)
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


def _release(connection: Rows, claim: Claim | None) -> bool:
    """Release the run and the connection's locks; where that fails, nobody uses the connection again.

    The run keeps no worker's name: whoever takes it over from here takes it from nobody that died.
    Out: False where it failed.
    """
    if connection.closed or connection.broken:
        return False
    try:
        if claim is not None:
            run(connection, "release_claim", {"run_id": claim.run_id, "fence": claim.fence})
        run(connection, "release_session", {"pid": connection.info.backend_pid})
    except psycopg.Error:
        connection.close()
        return False
    return True


def _take_over(connection: Rows, claim: Claim) -> None:
    """End the connection of a worker whose lease has run out, and take the lock of the run.

    Neither has to succeed, because the fence has moved already: without the lock the run is held by its
    lease alone.  Behind a pooler there is no lock to take.
    """
    about: dict[str, Any] = {"run_id": claim.run_id, "fence": claim.fence}
    if claim.row["had_lease"]:
        log.warning("run '%s' is taken over from a worker that gave no sign of life", claim.run_id)
        with suppress(psycopg.errors.InsufficientPrivilege):
            run(connection, "end_holder", {**about, "previous": claim.row["previous_pid"]})
    if not claim.row["may_lock"]:
        return
    for pause in _PAUSES:
        if (one(connection, "lock_run", about) or {}).get("locked"):
            run(connection, "hold_by_lock", about)
            return
        time.sleep(pause)


def build_fence_error(run_id: str) -> FenceLost:
    return FenceLost(
        f"another worker goes on with run '{run_id}'",
        hint="this process was stopped for longer than its lease; see oasflow show",
    )


def _own_name() -> str:
    """The name of this process, for people who look at who works on a run."""
    return f"{socket.gethostname()}:{os.getpid()}"

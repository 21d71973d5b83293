"""A sweep: several slots, each of which goes on with the next due run as soon as it is free.

    sweep_runs(database, work, {"limit": 100})  ->  [SweptRun(run_id="r1", reason="died", status="completed")]

A slow run keeps its own slot and no other.  A sweep ends when nothing is due and no slot has a run; one that
watches goes on until it is stopped, and is woken when a run becomes due.  Several processes may sweep at
once: each due run is offered to one of them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from operator import itemgetter
from typing import Final, TypeAlias, TypedDict

from cinatra_sdk.errors import (
    FlowError,
    InputInvalid,
    ProcessEnding,
    RunBusy,
    RunEnded,
    StoreUnreachable,
)
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.runs import Run
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.work.due_runs import (
    GRACE_SECONDS,
    DueReason,
    DueRun,
    DueScope,
    Taken,
    take_due_run,
    tell_next_due,
    withdraw_offer,
)

log = logging.getLogger("oasflow.store")

WORKERS: Final = 4
"""Runs that one sweep goes on with at once."""
LIMIT: Final = 100
LOOK_SECONDS: Final = 0.5
"""Seconds between two looks of a free slot of a sweep that ends, while others have runs."""
OUTAGE_SECONDS: Final = 2.0
"""Until a sweep that watches looks again where the database cannot be reached."""
CONTENDED_SECONDS: Final = 0.01
"""Seconds before a slot looks again where others were being given what is due."""

CredentialsFor: TypeAlias = Callable[[Run], "HostContext | None"]
"""The context of a run that is gone on with without a person: its credentials, for this run alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptRun:
    """The result of a sweep for one run."""

    run_id: str
    tenant: str
    reason: DueReason
    status: str = ""
    """How the run stands now; empty where it was left as it is."""
    problem: str = ""
    """Why it was left; empty where another worker has it."""


class SweepOptions(TypedDict, total=False):
    """What a sweep may be told."""

    limit: int
    """Runs that are gone on with, at most; 100 by default.  A sweep that watches has no limit."""
    tenant: str | None
    """Only runs of this tenant; None: of all."""
    workers: int
    """Runs that are gone on with at once."""
    grace: float
    """Seconds that a new run is left to whoever created it."""
    credentials_for: CredentialsFor | None
    """None: without credentials."""
    watch: float | None
    """Go on until `stop` is set, which has to be given; woken by what becomes due, and looking at least
    every so many seconds, above 0.  None: end when nothing is due.
    """
    stop: threading.Event | None
    """Once it is set, no further run is gone on with; those that slots have are."""
    on_swept: Callable[[SweptRun], None] | None
    """Told of each run when it is done, one at a time.  A sweep that watches answers with no list."""


Work: TypeAlias = Callable[[DueRun], Run]
"""Goes on with one run, unless it was worked on since."""


def sweep_runs(database: Database, work: Work, told: SweepOptions) -> list[SweptRun]:
    """Go on with runs that are due, the oldest first.

    A run that this process cannot go on with takes no place from others.

    Raises: `StoreError`; `InputInvalid` for `watch` without `stop`.
    """
    return _Sweep(database, work, told).sweep()


def _read_stop(told: SweepOptions) -> threading.Event:
    """Raises: `InputInvalid` for `watch` without `stop`."""
    stop = told.get("stop")
    if stop is None and told.get("watch") is not None:
        raise InputInvalid("a sweep that watches has no end", hint="give stop=threading.Event()")
    return stop or threading.Event()


class _Round:
    """What was taken since everything that is due was last looked at; a sweep that ends has one round."""

    def __init__(self) -> None:
        self.ends = 0.0
        """When the runs that were left are looked at again, by `time.monotonic`."""
        self.left: set[str] = set()
        """Runs that are not offered any more."""
        self._places: dict[tuple[str, int], int] = {}
        """(run, attempts) of what was taken, with its place."""

    def begin(self, *, until: float) -> None:
        self.left.clear()
        self._places.clear()
        self.ends = until

    def take(self, due: DueRun) -> bool:
        """False for a run that was taken as it is now; it is left from then on."""
        if (due.run_id, due.attempts) in self._places:
            self.left.add(due.run_id)
            return False
        self._places[due.run_id, due.attempts] = len(self._places)
        return True

    def has_seen(self, due: DueRun) -> bool:
        return (due.run_id, due.attempts) in self._places

    def find_place(self, due: DueRun) -> int:
        return self._places[due.run_id, due.attempts]


class _Sweep:
    def __init__(self, database: Database, work: Work, told: SweepOptions) -> None:
        self._database = database
        self._work = work
        self._tenant = told.get("tenant")
        self._grace = told.get("grace", GRACE_SECONDS)
        self._slots = told.get("workers", WORKERS)
        self._watch = told.get("watch")
        self._stop = _read_stop(told)
        self._on_swept = told.get("on_swept")
        self._room = None if self._watch is not None else told.get("limit", LIMIT)
        """Runs that may still be taken; None: any number."""
        self._changed = threading.Condition()
        self._is_over = False
        self._busy = 0
        self._is_looking = False
        self._heard = 0
        """How often it was heard that something may have become due."""
        self._look_at = 0.0
        """When a free slot looks next, by `time.monotonic`; earlier where there is news."""
        self._round = _Round()
        self._swept: list[tuple[int, SweptRun]] = []
        self._telling = threading.Lock()

    def sweep(self) -> list[SweptRun]:
        watching = (
            nullcontext() if self._watch is None
            else self._database.due_news.subscribe("", self._hear)
        )  # fmt: skip
        with watching, ThreadPoolExecutor(self._slots, "oasflow-sweep") as slots:
            try:
                ends = [slots.submit(self._serve) for _ in range(self._slots)]
                for end in ends:
                    end.result()
            finally:
                self._end()
        return [swept for _, swept in sorted(self._swept, key=itemgetter(0))]

    def _hear(self) -> None:
        """Something may have become due."""
        with self._changed:
            self._heard += 1
            self._look_at = 0.0
            self._changed.notify()

    def _end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _serve(self) -> None:
        """One slot."""
        try:
            while (due := self._take_next()) is not None:
                self._give_back(due, _go_on(self._work, due))
        except BaseException:
            self._end()
            raise

    def _take_next(self) -> DueRun | None:
        """The next run for a free slot; waits for one, and None at the end of the sweep."""
        while True:
            with self._changed:
                while not self._may_look():
                    if self._is_over:
                        return None
                    self._changed.wait(self._find_wait())
                self._is_looking, heard = True, self._heard
                scope = self._find_scope()
            found: Taken = "none"
            wait: float | None = None
            try:
                found, wait = self._look(scope)
            finally:
                with self._changed:
                    self._is_looking = False
                    taken = self._settle_look(found, wait, heard)
                    self._changed.notify_all()
            if taken is not None:
                return taken

    def _may_look(self) -> bool:
        if self._stop.is_set():
            self._is_over = True
        if self._is_over or self._is_looking:
            return False
        has_room = self._room is None or self._room > 0
        if not has_room and not self._busy:
            self._is_over = True
        return has_room and time.monotonic() >= self._look_at

    def _find_wait(self) -> float:
        """Seconds until a free slot looks by itself; somebody else's look or news may wake it before."""
        return min(max(self._look_at - time.monotonic(), 0.0) or LOOK_SECONDS, LOOK_SECONDS)

    def _find_scope(self) -> DueScope:
        now = time.monotonic()
        if self._watch is not None and now >= self._round.ends:
            self._round.begin(until=now + self._watch)
        return DueScope(tenant=self._tenant, grace=self._grace, but=sorted(self._round.left))

    def _look(self, scope: DueScope) -> tuple[Taken, float | None]:
        """What is due, or else in how many seconds to look again.

        A sweep that watches outlives the days of its database: it looks again.
        """
        try:
            with self._database.connection() as connection:
                found = take_due_run(connection, scope)
                if isinstance(found, DueRun) and self._round.has_seen(found):
                    withdraw_offer(connection, found.run_id)  # others may go on with it
                if found != "none" or self._watch is None:
                    return found, None
                return found, tell_next_due(connection, scope)
        except StoreUnreachable as problem:
            if self._watch is None:
                raise
            log.warning("the sweep looks again, for %s", problem)
            return "none", OUTAGE_SECONDS

    def _settle_look(self, found: Taken, wait: float | None, heard: int) -> DueRun | None:
        """heard: the news when the look began."""
        if isinstance(found, DueRun):
            self._look_at = 0.0  # there may be more
            if not self._round.take(found):
                return None
            self._busy += 1
            if self._room is not None:
                self._room -= 1
            return found
        if found == "contended":
            wait = CONTENDED_SECONDS
        elif self._watch is None:
            wait = LOOK_SECONDS
            self._is_over = self._is_over or (not self._busy and heard == self._heard)
        else:
            # What became due just now is looked for again soon, and not at once: it may be none for us.
            soon = LOOK_SECONDS if wait is not None and wait <= 0 else wait
            wait = self._watch if soon is None else min(soon, self._watch)
        # The look may not have seen what was told of while it was made.
        self._look_at = time.monotonic() + wait if heard == self._heard else 0.0
        return None

    def _give_back(self, due: DueRun, swept: SweptRun) -> None:
        if not swept.status:
            with self._changed:
                # Before the offer ends: another slot would take the run as it is once more.
                self._round.left.add(due.run_id)
            with suppress(StoreUnreachable), self._database.connection() as connection:
                withdraw_offer(connection, due.run_id)
        with self._changed:
            self._busy -= 1
            if not swept.status and self._room is not None:
                self._room += 1
            if self._watch is None:
                self._swept.append((self._round.find_place(due), swept))
            self._heard += 1
            self._look_at = 0.0
            self._changed.notify_all()
        if self._on_swept is not None:
            with self._telling:
                self._on_swept(swept)


def _go_on(work: Work, due: DueRun) -> SweptRun:
    status, problem = "", ""
    try:
        status = work(due).status
    except (RunBusy, RunEnded, ProcessEnding):
        pass  # somebody else was quicker, or will be
    except FlowError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 - one run, or the host's port, must not end the sweep
        problem = f"unexpected {type(error).__name__}"
    if problem:
        log.warning("run '%s' is left: %s", due.run_id, problem)
    return SweptRun(
        run_id=due.run_id, tenant=due.tenant, reason=due.reason, status=status, problem=problem
    )

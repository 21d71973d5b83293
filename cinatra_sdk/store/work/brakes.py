"""Brakes: each stops one activation before its next step, for a person's pause or the end of the process.

    brakes = Brakes()
    with brakes.holding("r1", Brake()) as brake:     # one for each run that is worked on
        graph.invoke(…, control=brake.make_control())
    brakes.pull("r1", "paused")                      # GraphDrained at the next step
    brakes.drain()                                   # all of them, and those that come

A step that has begun is ended and stored; the ledger begins no further call (`run_ledger.py`).  What the
activation leaves goes on later where it stands, as after a crash, and nothing counts as a failure.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from langgraph.errors import GraphDrained
    from langgraph.runtime import RunControl

LeaveReason: TypeAlias = Literal["paused", "shutdown"]
"""Why an activation stops before its next step: a person paused the run, or the process ends."""
LONGEST: Final = 1e6
"""Seconds of a wait at most: eleven days."""
PAUSED: Final = "paused"
SHUTDOWN: Final = "shutdown"


class Brake:
    """Of one activation; pulled from any thread, as often as anybody likes: the first reason counts."""

    def __init__(self) -> None:
        self._reason: LeaveReason | None = None
        self._control: RunControl | None = None

    @property
    def reason(self) -> LeaveReason | None:
        """None: nobody has pulled it."""
        return self._reason

    def pull(self, reason: LeaveReason) -> None:
        self._reason = self._reason or reason
        if self._control is not None:
            self._control.request_drain(self._reason)

    def make_control(self) -> RunControl:
        """What the engine looks at before each step, in the flows inside too."""
        from langgraph.runtime import RunControl  # late: listing runs must not load the engine

        self._control = made = RunControl()
        if self._reason is not None:
            made.request_drain(self._reason)  # pulled before there was a control
        return made


class Brakes:
    """Those of the runs that a store works on; safe to share between threads."""

    def __init__(self) -> None:
        self._begin_empty()

    def _begin_empty(self) -> None:
        self._process = os.getpid()
        self._held: dict[str, Brake] = {}
        self._changed = threading.Condition()
        self._is_draining = False

    @property
    def is_draining(self) -> bool:
        """Whether the store takes no further work."""
        self._notice_a_fork()
        return self._is_draining

    @contextmanager
    def holding(self, run_id: str, brake: Brake) -> Iterator[Brake]:
        """Within, the run is worked on here."""
        self._notice_a_fork()
        with self._changed:
            self._held[run_id] = brake
            if self._is_draining:
                brake.pull(SHUTDOWN)
        try:
            yield brake
        finally:
            with self._changed:
                if self._held.get(run_id) is brake:
                    del self._held[run_id]
                self._changed.notify_all()

    def pull(self, run_id: str, reason: LeaveReason) -> None:
        """Nothing where the run is not worked on here."""
        self._notice_a_fork()
        with self._changed:
            brake = self._held.get(run_id)
        if brake is not None:
            brake.pull(reason)

    def drain(self, wait: float | None = 0.0) -> bool:
        """Pull every brake, and those of runs that come later; whether none is held any more.

        wait: seconds until then at most; None: as long as it takes.
        """
        self._notice_a_fork()
        with self._changed:
            self._is_draining = True
            for brake in self._held.values():
                brake.pull(SHUTDOWN)
        until = None if wait is None else time.monotonic() + min(wait, LONGEST)
        with self._changed:
            while self._held:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _notice_a_fork(self) -> None:
        # The runs are its parent's, and so is the lock, perhaps in the hands of a thread that did not
        # come along.
        if self._process != os.getpid():
            self._begin_empty()


def make_drained(reason: LeaveReason) -> GraphDrained:
    """What the engine raises at a brake, for whoever stops before the engine does: no node takes it for
    a failure.
    """
    from langgraph.errors import GraphDrained

    return GraphDrained(reason)

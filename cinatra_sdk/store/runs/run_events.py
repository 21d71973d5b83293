"""The events of a stored run, read in order, and followed while it is worked on.

    for event in store.events("r1"):                 # ends when nobody works on the run
    for event in store.events("r1", follow=True):    # ends when the run has ended for good

Each event comes once, in the order of its number.  Whoever follows holds no connection while there is
nothing to read: a follower that hangs or goes away takes nothing from the run or from others.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import JsonValue

from cinatra_sdk.contract import ENDED, Status
from cinatra_sdk.errors import RunNotFound
from cinatra_sdk.events import RunEvent
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, every, one
from cinatra_sdk.postgres.notifications import POLL
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.pages import read_objects
from cinatra_sdk.store.runs.run_rows import load_row
from cinatra_sdk.store.work.run_ledger import RAISED

PAGE: Final = 500
"""Events that are read at once."""


@dataclass(slots=True)
class Follower:
    """One reader of the events of one run."""

    database: Database
    run_id: str
    after: int
    """Number of the last event that was handed on."""
    to_end: bool
    """Whether to go on until the run has ended, and not only until nobody works on it."""
    is_over: bool = False

    def read(self) -> list[RunEvent]:
        """The next events; none once everything is read."""
        with self.database.connection() as connection:
            # In this order: what is told before the run comes to rest is seen below.
            progress = one(connection, "load_progress", {"run_id": self.run_id, "tenant": None})
            asked = {"run_id": self.run_id, "after": self.after, "limit": PAGE}
            events = [
                read_event(self.run_id, row) for row in every(connection, "list_events", asked)
            ]
        if events:
            self.after = events[-1].seq
        elif progress is None or progress["status"] in ENDED:
            self.is_over = True
        else:
            self.is_over = not self.to_end and not progress["is_held"]
        return events

    def follow(self) -> Iterator[RunEvent]:
        with self.database.news.subscribe(self.run_id) as subscriber:
            while not self.is_over:
                live = subscriber.take_live()
                events = self.read()
                yield from events
                yield from live
                if not events and not self.is_over:
                    subscriber.wait(POLL)

    async def afollow(self) -> AsyncGenerator[RunEvent, None]:
        """As `follow`, for an event loop, of which nothing waits in a thread meanwhile."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def call() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.set)

        with self.database.news.subscribe(self.run_id, call) as subscriber:
            while not self.is_over:
                news.clear()
                live = subscriber.take_live()
                events = await asyncio.to_thread(self.read)
                for event in (*events, *live):
                    yield event
                if not events and not self.is_over:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), POLL)


def make_follower(
    database: Database, run_id: str, *, after: int, to_end: bool, tenant: str | None
) -> Follower:
    """Raises: `RunNotFound`, for a run of another tenant too."""
    with database.connection() as connection:
        if one(connection, "load_progress", {"run_id": run_id, "tenant": tenant}) is None:
            raise RunNotFound(f"there is no run '{run_id}'", hint="see oasflow runs")
    return Follower(database, run_id, after, to_end)


def read_event(run_id: str, row: Row) -> RunEvent:
    """Without its data where that is no object: then no process of this project wrote it."""
    data = row["data"]
    return RunEvent(
        kind=row["kind"],
        name=row["name"],
        path=row["path"],
        visit=row["visit"],
        data=data if isinstance(data, dict) else {},
        run_id=run_id,
        seq=row["seq"],
        at=row["at"],
    )


# ----------------------------------------------------------------------------
# A run from rest to rest.
#
#     list_stretches(database, "r1", None)   ->  [Stretch(number=1, first=1, last=9, status="waiting", …), …]
#
# A rest is the event that the run waits, ended, failed or was stopped.  What comes after it, the decision
# first, is of the next stretch, so a number never changes.


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The events of a run from one rest to the next."""

    number: int
    """From 1, without a gap."""
    first: int
    """`seq` of its first event."""
    last: int
    """`seq` of its last event so far."""
    began_at: datetime
    told_at: datetime
    """When its last event was told."""
    status: Status | None
    """At which the run came to rest; None: it has not."""


def list_stretches(database: Database, run_id: str, tenant: str | None) -> list[Stretch]:
    """The oldest first.  Raises: `RunNotFound`."""
    with database.connection() as connection:
        load_row(connection, run_id, tenant)
        rows = every(connection, "list_stretches", {"run_id": run_id})
    return [
        Stretch(
            number=row["number"],
            first=row["first_seq"],
            last=row["last_seq"],
            began_at=row["began_at"],
            told_at=row["told_at"],
            status=row["status"],
        )
        for row in rows
    ]


# ----------------------------------------------------------------------------
# One call of a run to the outside, as its ledger keeps it; without what the call gave.


EffectStatus: TypeAlias = Literal["begun", "done", "failed", "unknown"]
EFFECT_STATUSES: Final[tuple[EffectStatus, ...]] = get_args(EffectStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """A call of the run: its time, number of attempts and end."""

    run_id: str
    key: str
    """Its Idempotency-Key."""
    kind: Literal["http", "tool", "model", "mcp", "a2a"]
    capability: str
    """What was called: method and url, the name of a tool, or provider and model."""
    path: str
    """The node, as events name it."""
    visit: int
    item: int | None
    """Element of a map, from 0; None outside of maps."""
    risk: str
    status: EffectStatus
    attempts: int
    usage: Mapping[str, Any]
    """What it cost; empty where it has not ended."""
    error: Mapping[str, Any]
    """`{"code": …, "message": …}` of a call that failed; else empty."""
    request_sha256: str
    shown_sha256: str
    """Of what a person approved; empty where nobody was asked."""
    result_sha256: str
    """Of the result of an archived run; empty while the result is there."""
    begun_at: datetime
    ended_at: datetime | None
    unreadable: tuple[str, ...] = ()
    """The columns that cannot be read, each with what is wrong; they are empty here."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        objects, problems = read_objects(dict(row), "usage", "error")
        # The error itself is for a run that is carried out again; people read its code and its text.
        objects["error"] = {name: v for name, v in objects["error"].items() if name != RAISED}
        return cls(**{**row, **objects, "unreadable": problems})

    def to_json(self) -> dict[str, JsonValue]:
        """The record as JSON; moments in ISO 8601, with their zone."""
        ended = None if self.ended_at is None else self.ended_at.isoformat()
        told = {"begun_at": self.begun_at.isoformat(), "ended_at": ended}
        return {**asdict(self), **told, "unreadable": list(self.unreadable)}

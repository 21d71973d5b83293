"""One feed of what happens to all runs: that they begin, come to rest and end, and what becomes of gates.

    for item in store.feed(after=cursor, follow=True):
        item.kind, item.name, item.run_id, item.gate_id      "gate", "opened", "n1", "review"
        cursor = item.cursor                                  kept by the reader, which goes on after it

Statements end in another order than they begin.  Each row of the feed has a number that is not below the
transaction that wrote it (`033_feed.sql`), and only rows below every transaction that has written events and is
still under way are told: whatever is told later has a higher number, so a reader that keeps its cursor misses
nothing and is told nothing twice.  A transaction that stays open holds the feed up, and loses nothing of it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, one, run
from cinatra_sdk.postgres.notifications import EVERY_RUN, POLL
from cinatra_sdk.store.arguments import check_arguments, check_kinds, check_names
from cinatra_sdk.store.async_twins import in_thread
from cinatra_sdk.store.pages import PAGE, Page
from cinatra_sdk.store.runs.lists import RunReader

HELD_UP: Final = 0.05
"""Seconds until the next look while a transaction holds up what is there already."""

FeedName: TypeAlias = Literal[
    "created", "waiting", "completed", "rejected", "failed", "stopped", "paused", "resumed",
    "archived", "opened", "decided", "closed",
]  # fmt: skip
_NUMBER: Final = re.compile("[0-9]{1,20}")
_MOST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """A change of a run or of one of its gates, without any value of the run."""

    cursor: str
    """The place behind it, which `after` takes."""
    kind: Literal["run", "gate"]
    name: FeedName
    """Of a run: `created`, each status at which it comes to rest, `paused`, `resumed`, `archived`; of a gate:
    `opened`, `decided`, `closed`.  The end of a run closes its gates, whether or not that is told of each.
    """
    run_id: str
    seq: int
    """Number of the event in its run: those of one run come in their order."""
    at: datetime
    tenant: str
    flow: str
    """The flow's name."""
    started_by: str
    gate_id: str
    """Empty where it is no gate's."""
    payload_sha256: str
    """Of what the gate shows, where it opened; else empty."""
    decision: Literal["", "approved", "rejected", "denied"]
    by: str
    """Who did it, where a person did and gave a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage(Page[FeedItem]):
    """A part of the feed; `next` is never empty, and goes on where the page ended."""

    is_end: bool
    """Whether this is all that can be told at this moment."""
    is_held_up: bool
    """Whether there is more that waits for a transaction under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """The end of the feed at one moment."""

    until: str
    """What is told has a lower number."""
    mark: str
    """Of the server on which the numbers count; another one after a restore or a failover."""
    is_held_up: bool


@check_arguments
class FeedReader(RunReader):
    """The feed of a run store."""

    def feed_page(
        self, *, after: str = "", limit: int = PAGE, tenant: str | None = None
    ) -> FeedPage:
        """What happened after a place in the feed, the oldest first; at most `limit` items.

        after: the cursor of an item or of a page; empty: from the beginning, which is the migration to this
        version or, where the database was adopted since, that moment.

        Raises: `InputInvalid` for what is no cursor of this feed, and for one from before the database was
        restored or another server took over: numbers count anew there, so that the reader begins again, with
        lists and `feed_now`.
        """
        check_names(tenant=tenant)
        told, run_id, seq, made_at = _read_place(after)
        end = self._find_end(told)
        if made_at not in ("", end.mark):
            raise InputInvalid(
                "the cursor is from before this database was restored or adopted, or another server took over",
                hint="begin again: feed_now() first, then the lists, then the feed from there",
            )
        rows = self._list_rows(
            "list_feed",
            {
                "until": end.until, "after_told": told, "after_run": run_id, "after_seq": seq,
                "tenant": tenant,
            },
            limit + 1,
        )  # fmt: skip
        is_end = len(rows) <= limit
        items = [_make_item(row, end.mark) for row in rows[:limit]]
        if not is_end:
            last = items[-1].cursor
        elif int(end.until) > int(told):
            last = _write_place(end.mark, end.until)
        else:  # an older transaction has begun to write since
            last = after
        return FeedPage(items=items, next=last, is_end=is_end, is_held_up=end.is_held_up)

    def feed_now(self) -> str:
        """The cursor of this moment: read lists after it, then the feed from it, and nothing is missed."""
        end = self._find_end()
        return _write_place(end.mark, end.until)

    def feed(
        self, *, after: str = "", tenant: str | None = None, follow: bool = False
    ) -> Iterator[FeedItem]:
        """As `feed_page`, item by item, to the end; follow: for ever, each as soon as it can be told.

        Raises: as `feed_page`, where it is called; while it is read, `StoreError`.
        """
        page = self.feed_page(after=after, tenant=tenant)
        return self._iterate_feed(page, tenant, follow=follow)

    def _iterate_feed(
        self, page: FeedPage, tenant: str | None, *, follow: bool
    ) -> Iterator[FeedItem]:
        with self._database.news.subscribe(EVERY_RUN) as subscriber:
            while True:
                yield from page.items
                if page.is_end:
                    if not follow:
                        return
                    subscriber.wait(HELD_UP if page.is_held_up else POLL)
                subscriber.take_live()
                page = self.feed_page(after=page.next, tenant=tenant)

    async def afeed(
        self, *, after: str = "", tenant: str | None = None, follow: bool = False
    ) -> AsyncIterator[FeedItem]:
        """As `feed`: `async for item in store.afeed(follow=True)`."""
        check_kinds(follow=follow)
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def call() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.set)

        with self._database.news.subscribe(EVERY_RUN, call):
            while True:
                news.clear()
                page = await self.afeed_page(after=after, tenant=tenant)
                after = page.next
                for item in page.items:
                    yield item
                if page.is_end:
                    if not follow:
                        return
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), HELD_UP if page.is_held_up else POLL)

    def _find_end(self, after_told: str = "0") -> _End:
        with self._database.connection() as connection:
            row = one(connection, "find_feed_end", {"after_told": after_told})
            assert row is not None  # one row always
            if row["is_held_up"] and not row["has_writers"]:
                # Its writer is gone, and its number is the next one that a transaction gets.
                run(connection, "use_number")
                row = one(connection, "find_feed_end", {"after_told": after_told})
                assert row is not None
        return _End(until=row["until"], mark=row["mark"], is_held_up=row["is_held_up"])

    afeed_page = in_thread(feed_page)
    afeed_now = in_thread(feed_now)


def _make_item(row: Row, mark: str) -> FeedItem:
    data = row["data"] if isinstance(row["data"], Mapping) else {}
    kind, name = row["kind"], row["name"]
    return FeedItem(
        cursor=_write_place(mark, row["told"], row["run_id"], row["seq"]),
        kind="run" if kind == "run" else "gate",
        name="decided" if kind == "decision" else name,
        run_id=row["run_id"],
        seq=row["seq"],
        at=row["at"],
        tenant=row["tenant"],
        flow=row["flow_name"],
        started_by=row["started_by"] or "",
        gate_id=_read_text(data, "gate"),
        payload_sha256=_read_text(data, "payload_sha256"),
        decision=name if kind == "decision" else "",
        by=_read_text(data, "by"),
    )


def _read_text(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    return found if isinstance(found, str) else ""


def _write_place(mark: str, told: str, run_id: str = "", seq: int = 0) -> str:
    text = json.dumps([mark, told, run_id, seq], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_place(cursor: str) -> tuple[str, str, int, str]:
    """The number, the run and the event of a place, and the mark of the server that gave the number.

    Raises: `InputInvalid`.
    """
    check_names(after=cursor)
    if not cursor:
        return "0", "", 0, ""
    problem = InputInvalid(
        f"'{cursor[:100]}' is no cursor of the feed", hint="give the one that an item or a page has"
    )
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError, binascii.Error):
        raise problem from None
    if not isinstance(place, list) or list(map(type, place)) != [str, str, str, int]:
        raise problem
    mark, told, run_id, seq = place
    check_names(after=run_id)
    if not mark or not _NUMBER.fullmatch(told) or int(told) > _MOST or not 0 <= seq <= _MOST:
        raise problem
    return told, run_id, seq, mark

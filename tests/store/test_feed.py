"""One feed of all runs and gates: complete, in an order that loses nothing, and for each only what is theirs."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.api import Person
from cinatra_sdk.api.permission import ActionSubject
from cinatra_sdk.effects import Verdict
from cinatra_sdk.errors import InputInvalid, NotAllowed
from cinatra_sdk.store import PersonStore, erase_person
from cinatra_sdk.store.lists.feed import FeedItem
from tests.store.work.branches import Branches

FLOW = Branches(("a", "b"))
YES = Decision.approve(by="ann")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def tell(items: Any) -> list[tuple[str, ...]]:
    return [(one.run_id, one.name, *((one.gate_id,) if one.gate_id else ())) for one in items]


def test_the_feed_tells_of_a_run_and_its_gates_from_beginning_to_end(store: RunStore) -> None:
    store.start(FLOW, run_id="r1", tenant="acme", by="eve")
    store.answer("r1", "a", YES)
    store.pause("r1", by="bob")
    store.decide("r1", "b", Decision.reject(by="ann", reason="no"))
    store.resume("r1", by="bob")
    store.archive("r1", by="eve")
    items = list(store.feed())
    assert tell(items) == [
        ("r1", "created"), ("r1", "opened", "a"), ("r1", "opened", "b"), ("r1", "waiting"),
        ("r1", "decided", "a"), ("r1", "waiting"), ("r1", "paused"), ("r1", "decided", "b"),
        ("r1", "resumed"), ("r1", "rejected"), ("r1", "archived"),
    ]  # fmt: skip
    assert [one.by for one in items if one.by] == ["eve", "ann", "bob", "ann", "bob", "eve"]
    assert [one.decision for one in items if one.decision] == ["approved", "rejected"]
    opened = items[1]
    assert (opened.tenant, opened.flow, opened.started_by) == ("acme", "branches", "eve")
    assert opened.payload_sha256 == store.gate("r1", "a").gate.payload_sha256
    assert opened.kind == "gate"
    assert [one.seq for one in items] == sorted(one.seq for one in items)


def test_a_gate_that_is_closed_by_another_decision_or_a_stop_is_told_of(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    store.start(FLOW, run_id="r2")
    now = store.feed_now()
    store.answer("r1", "a", Decision.reject(by="ann"))
    store.stop("r2", by="ann")
    told = tell(store.feed(after=now))
    assert ("r1", "closed", "b") in told
    assert [one for one in told if one[0] == "r2"] == [
        ("r2", "closed", "a"), ("r2", "closed", "b"), ("r2", "stopped")
    ]  # fmt: skip


def test_a_gate_that_shows_something_else_is_closed_and_opened(store: RunStore) -> None:
    """As the statement that ends an activation does it, whoever asks again."""
    store.start(FLOW, run_id="r1")
    with store.database.connection() as rows:
        rows.execute(
            "insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt,"
            " payload, response_schema, fence) values ('r1', 'old#2', 'x', 'old', 2, 1, 'i', '{}', '{}', 1)"
        )
    now = store.feed_now()
    store.answer("r1", "a", YES)
    told = list(store.feed(after=now))
    assert tell(told) == [
        ("r1", "decided", "a"), ("r1", "closed", "old#2"), ("r1", "waiting")
    ]  # fmt: skip
    event = store.told("r1", after=told[1].seq - 1)[0]
    assert (event.path, event.visit) == ("old", 2)


# ------------------------------------------------------------------ statements that end in another order


WRITE = """
with counted as (update work set events = events + 1 where run_id = %s returning run_id, events)
insert into run_events (run_id, seq, kind, name) select run_id, events, 'run', 'waiting' from counted
"""


def begin_slow(dsn: str, run_id: str) -> psycopg.Connection[Any]:
    """A transaction that has written an event of the run and does not end."""
    connection = psycopg.connect(dsn, options="-c search_path=oasflow")
    connection.execute(WRITE, [run_id])
    return connection


def test_what_a_slow_transaction_wrote_first_is_not_passed_over(
    store: RunStore, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(FLOW, run_id="slow")
    store.create(FLOW, run_id="quick")
    now = store.feed_now()
    naive = ReadsWhatIsThere(store, monkeypatch, after=now)
    with begin_slow(fresh_database, "slow") as slow:
        store.stop("quick", by="ann")
        held = store.feed_page(after=now)
        assert (list(held.items), held.is_end, held.is_held_up) == ([], True, True)
        seen = naive.read()
        slow.commit()
    page = store.feed_page(after=held.next)
    assert tell(page.items) == [("slow", "waiting"), ("quick", "stopped")]
    assert not page.is_held_up
    # The control: a reader without the horizon has gone past the slow one for good.
    assert tell([*seen, *naive.read()]) == [("quick", "stopped")]


class ReadsWhatIsThere:
    """A reader that takes whatever it sees, in the order of the feed's numbers."""

    def __init__(self, store: RunStore, monkeypatch: pytest.MonkeyPatch, *, after: str) -> None:
        self._store, self._patch, self._after = store, monkeypatch, after

    def read(self) -> list[FeedItem]:
        end = self._store._find_end()
        far = type(end)(until=str(2**62), mark=end.mark, is_held_up=False)
        with self._patch.context() as patch:
            patch.setattr(self._store, "_find_end", lambda _after: far)
            items = list(self._store.feed_page(after=self._after).items)
        if items:
            self._after = items[-1].cursor
        return items


def test_events_of_one_run_come_in_their_order_though_a_later_transaction_was_first(
    store: RunStore, fresh_database: str
) -> None:
    """The one that waited for the run has the lower number as a transaction."""
    store.create(FLOW, run_id="r1")
    store.create(FLOW, run_id="other")
    now = store.feed_now()
    early = begin_slow(fresh_database, "other")  # has its number
    late = begin_slow(fresh_database, "r1")
    with early, late:
        waits = threading.Thread(target=lambda: early.execute(WRITE, ["r1"]))
        waits.start()
        late.commit()
        waits.join()
        early.commit()
    pages, after = [], now
    for _ in range(3):  # one at a time: also a page that ends between them keeps the order
        page = store.feed_page(after=after, limit=1)
        pages += [(one.run_id, one.seq) for one in page.items]
        after = page.next
    assert sorted(pages[:3]) == [("other", 2), ("r1", 2), ("r1", 3)]
    assert pages.index(("r1", 2)) < pages.index(("r1", 3))


def test_two_readers_amid_slow_and_undone_transactions_read_everything_once(
    store: RunStore, fresh_database: str
) -> None:
    runs = [f"r{number}" for number in range(6)]
    for run in runs:
        store.create(FLOW, run_id=run)
    now = store.feed_now()
    over = threading.Event()

    def write(seed: int) -> None:
        rng = random.Random(seed)
        with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
            for _ in range(25):
                connection.execute(WRITE, [rng.choice(runs)])
                connection.execute("select pg_sleep(%s)", [rng.random() / 100])
                if rng.random() < 0.2:
                    connection.rollback()
                else:
                    connection.commit()

    def read(found: list[FeedItem], limit: int) -> None:
        after, last = now, False
        while True:
            page = store.feed_page(after=after, limit=limit)
            found += page.items
            after = page.next
            if page.is_end and last:
                return
            last = over.is_set()

    readers: list[tuple[threading.Thread, list[FeedItem]]] = []
    for limit in (2, 100):
        found: list[FeedItem] = []
        readers.append((threading.Thread(target=read, args=(found, limit)), found))
    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(5)]
    for thread in (*writers, *(one for one, _ in readers)):
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    stored = [(run, event.seq) for run in runs for event in store.told(run, after=1)]
    for reader, found in readers:
        reader.join()
        places = [(one.run_id, one.seq) for one in found]
        assert sorted(places) == sorted(stored)
        for run in runs:
            assert [seq for name, seq in places if name == run] == [
                seq for name, seq in stored if name == run
            ]


# ------------------------------------------------------------------ cursors


def test_pages_of_any_size_tell_the_same(store: RunStore) -> None:
    for number in range(3):
        store.start(FLOW, run_id=f"r{number}")
    whole = tell(store.feed())
    assert len(whole) == 12
    for limit in (1, 5, 12, 13):
        found, after, is_end = [], "", False
        while not is_end:
            page = store.feed_page(after=after, limit=limit)
            found += tell(page.items)
            after, is_end = page.next, page.is_end
        assert found == whole
        assert store.feed_page(after=after).items == []


READER = """
import sys
from cinatra_sdk import RunStore
with RunStore.open(sys.argv[1]) as store:
    for item in store.feed(after=sys.argv[2], follow=True):
        print(item.run_id, item.seq, item.cursor, flush=True)
"""


def test_a_reader_that_is_killed_goes_on_behind_the_last_that_it_kept(
    store: RunStore, fresh_database: str
) -> None:
    for number in range(3):
        store.start(FLOW, run_id=f"r{number}")
    kept: list[str] = []
    after = ""
    for most in (4, 3, 5):
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, fresh_database, after],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert reader.stdout is not None
        for _ in range(most):
            run, seq, after = reader.stdout.readline().split()
            kept.append(f"{run} {seq}")
        reader.kill()
        reader.communicate()
    assert kept == [f"{one.run_id} {one.seq}" for one in store.feed()]


def test_who_follows_is_told_what_another_process_does(
    store: RunStore, fresh_database: str
) -> None:
    seen = threading.Event()
    found: list[FeedItem] = []

    def follow() -> None:
        for item in store.feed(follow=True):
            found.append(item)
            if item.name == "stopped":
                seen.set()
                return

    reader = threading.Thread(target=follow)
    reader.start()
    with RunStore.open(fresh_database) as other:
        other.start(FLOW, run_id="r1")
        other.stop("r1", by="ann")
    assert seen.wait(60)
    reader.join()
    assert tell(found)[0] == ("r1", "created")


def test_the_async_twin_follows_too(store: RunStore) -> None:
    async def read() -> list[FeedItem]:
        await store.astart(FLOW, run_id="r1")
        items = [item async for item in store.afeed()]
        assert await store.afeed_now() == (await store.afeed_page()).next
        stop = asyncio.create_task(store.astop("r1", by="ann"))
        async for item in store.afeed(after=items[-1].cursor, follow=True):
            items.append(item)
            if item.name == "stopped":
                break
        await stop
        return items

    assert tell(asyncio.run(read())) == tell(store.feed())


@pytest.mark.parametrize("cursor", ["x", "bm8", "WzFd", "WyJhIiwieCIsIiIsMF0", "W10" * 50])
def test_another_cursor_is_refused(store: RunStore, cursor: str) -> None:
    with pytest.raises(InputInvalid, match="is no cursor of the feed"):
        store.feed(after=cursor)


def test_a_cursor_of_before_an_adoption_is_refused_and_what_was_before_is_not_told(
    store: RunStore, owner_database: str
) -> None:
    store.create(FLOW, run_id="before")
    cursor = store.feed_now()
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as owner:
        owner.execute(
            "insert into homes (system_identifier, database_oid, timeline, why, by_whom)"
            " select h.system_identifier, h.database_oid, h.timeline, 'adopted', 'ann'"
            " from oasflow_here() as h"
        )
    with pytest.raises(InputInvalid, match="before this database was restored or adopted"):
        store.feed_page(after=cursor)
    assert list(store.feed()) == []
    store.create(FLOW, run_id="after")
    assert tell(store.feed()) == [("after", "created")]


# ------------------------------------------------------------------ whose


def test_a_tenant_is_told_of_its_own_runs(store: RunStore) -> None:
    for tenant in ("", "acme", "beta"):
        store.create(FLOW, run_id=f"of-{tenant}", tenant=tenant)
    assert tell(store.feed(tenant="acme")) == [("of-acme", "created")]
    assert tell(store.feed(tenant="")) == [("of-", "created")]
    assert len(list(store.feed())) == 3
    mine = PersonStore(store, Person(id="ann", tenant="beta", proof="token"))
    assert tell(mine.feed()) == [("of-beta", "created")]
    with pytest.raises(NotAllowed):
        mine.feed(tenant="acme")


def test_a_person_is_told_of_what_the_policy_lets_them_see(store: RunStore) -> None:
    for number in range(6):
        store.create(FLOW, run_id=f"r{number}", tenant="acme")

    def sees_even(_person: Person, _action: str, subject: ActionSubject) -> Verdict:
        return Verdict(allowed=subject.run_id in ("r0", "r2", "r4"), reason="odd")

    mine = PersonStore(store, Person(id="ann", tenant="acme", proof="token"), policy=sees_even)
    page = mine.feed_page(limit=2)
    assert tell(page.items) == [("r0", "created"), ("r2", "created")]
    page = mine.feed_page(after=page.next, limit=2)
    assert tell(page.items) == [("r4", "created")]
    assert page.is_end
    assert tell(mine.feed()) == [("r0", "created"), ("r2", "created"), ("r4", "created")]

    async def read() -> list[FeedItem]:
        return [item async for item in mine.afeed()]

    assert len(asyncio.run(read())) == 3


def test_the_feed_of_an_erased_person_has_no_name_any_more(
    store: RunStore, owner_database: str
) -> None:
    store.start(FLOW, run_id="r1", by="ann")
    store.answer("r1", "a", YES)
    store.stop("r1", by="ann")
    store.archive("r1", by="bob")
    before = tell(store.feed())
    erase_person(owner_database, ["ann"], by="bob", dry_run=False)
    items = list(store.feed())
    assert tell(items) == before
    assert "ann" not in {one.by for one in items} | {one.started_by for one in items}

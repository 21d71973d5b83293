"""Ids of checkpoints, read by themselves and as any saver lists them: the same, on every saver."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from cinatra_sdk.errors import ForkRefused
from cinatra_sdk.langgraph_internals.checkpoint_ids import (
    CheckpointLink,
    aread_links,
    aread_namespaces,
    config_of,
    read_links,
    read_namespaces,
)
from cinatra_sdk.langgraph_threads.lineage import ThreadPlace, arequire_line, require_line
from cinatra_sdk.langgraph_threads.serializer import with_strict_serializer
from tests.effort import tries

THREADS = ("t1", "t2")
NAMESPACES = ("", "child:1", "child:2")
TREES = tries(3, 12)
"""Random trees on each saver in Postgres; in memory ten times as many."""


class Tree:
    """What is put into a saver and deleted from it, made up from a seed."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.puts: list[tuple[str, str, str, str]] = []
        """(thread, namespace, id, parent; empty: of none)"""
        self.deleted: list[tuple[str, str, str]] = []
        for _ in range(dice.choice([0, 1, 3, 20, 45])):
            self._grow()
        kept = [(thread, namespace, own) for thread, namespace, own, _ in self.puts]
        if dice.random() < 0.3:  # as a server's "prune" does
            self.deleted = dice.sample(kept, k=len(kept) // 2)

    def _grow(self) -> None:
        dice = self.dice
        thread = dice.choice(THREADS)
        namespace = dice.choices(NAMESPACES, weights=[6, 2, 1])[0]
        ids = self.ids(thread, namespace)
        newest = max(ids, default="")
        # Mostly a line; now and then a fork, a parent that is not there, or a clock that is behind.
        chance = dice.random()
        parent = newest if chance < 0.85 else dice.choice([*ids, "", "0000"])
        own = f"{int(newest or '1000') + 1:04}"
        if chance > 0.97:
            own = f"{dice.randrange(1001, 2000):04}"
        if own not in ids:
            self.puts.append((thread, namespace, own, parent))

    def ids(self, thread: str, namespace: str) -> list[str]:
        return [own for t, ns, own, _ in self.puts if (t, ns) == (thread, namespace)]

    def places(self, saver: Any) -> Iterator[tuple[ThreadPlace, str]]:
        """Where a node may run, and how far an earlier look may have come."""
        for thread in THREADS:
            for namespace in NAMESPACES:
                ids = self.ids(thread, namespace)
                for _ in range(4):
                    at = self.dice.choice([*ids[-2:], *ids, "", "1500"])
                    since = self.dice.choice([*ids, "", ""])
                    yield (
                        ThreadPlace(
                            saver=saver,
                            thread=thread,
                            namespace=namespace,
                            checkpoint=at,
                            is_kept=False,  # nothing is being written, so there is nothing to wait for
                        ),
                        since,
                    )


def checkpoint(own: str) -> Any:
    return {**empty_checkpoint(), "id": own}


def place_in(saver: Any, tree: Tree) -> None:
    for thread, namespace, own, parent in tree.puts:
        saver.put(config_of(thread, namespace, parent), checkpoint(own), {}, {})


def placed(saver: InMemorySaver, tree: Tree) -> InMemorySaver:
    """The saver with the tree in it, without what is deleted of it."""
    place_in(saver, tree)
    for thread, namespace, own in tree.deleted:
        del saver.storage[thread][namespace][own]
    return saver


def verdict(place: ThreadPlace, since: str) -> str:
    try:
        return f"line at {require_line(place, since=since, node='send')}"
    except ForkRefused as refused:
        return str(refused)


async def averdict(place: ThreadPlace, since: str) -> str:
    try:
        return f"line at {await arequire_line(place, since=since, node='send')}"
    except ForkRefused as refused:
        return str(refused)


def in_any_way(saver: Any) -> Any:
    """The same saver, of a class with a `list` of its own: it is asked by `list` and `alist`."""

    class Listing(type(saver)):  # type: ignore[misc]
        def list(self, *args: Any, **more: Any) -> Iterator[Any]:
            self.asked += 1
            yield from super().list(*args, **more)

        async def alist(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
            self.asked += 1
            async for kept in super().alist(*args, **more):
                yield kept

    other = object.__new__(Listing)
    other.__dict__ = {**saver.__dict__, "asked": 0}
    return other


@pytest.fixture
def seed() -> int:
    chosen = random.SystemRandom().randrange(2**32)
    print(f"seed {chosen}")
    return chosen


def trees(seed: int, number: int = TREES) -> Iterator[tuple[Tree, random.Random]]:
    for tree in range(number):
        yield Tree(random.Random(f"{seed}/{tree}")), random.Random(f"{seed}/{tree}/pages")


def compare(fast: Any, general: Any, tree: Tree, dice: random.Random) -> None:
    for place, since in tree.places(fast):
        thread, namespace = place.thread, place.namespace
        before = dice.choice(["", "", place.checkpoint, since])
        limit = dice.choice([1, 2, 16, 100])
        found = read_links(fast, thread, namespace, before=before, limit=limit)
        assert found == read_links(general, thread, namespace, before=before, limit=limit)
        assert verdict(place, since) == verdict(place._replace(saver=general), since)
        assert read_namespaces(fast, thread) == read_namespaces(general, thread)


async def acompare(fast: Any, general: Any, tree: Tree, dice: random.Random) -> None:
    for place, since in tree.places(fast):
        thread, namespace = place.thread, place.namespace
        before = dice.choice(["", "", place.checkpoint, since])
        limit = dice.choice([1, 2, 16, 100])
        found = await aread_links(fast, thread, namespace, before=before, limit=limit)
        assert found == await aread_links(general, thread, namespace, before=before, limit=limit)
        assert await averdict(place, since) == await averdict(place._replace(saver=general), since)
        assert await aread_namespaces(fast, thread) == await aread_namespaces(general, thread)


def test_in_memory_both_ways_say_the_same_of_random_trees(seed: int) -> None:
    for tree, dice in trees(seed, 10 * TREES):
        saver = placed(with_strict_serializer(InMemorySaver()), tree)
        general = in_any_way(saver)
        compare(saver, general, tree, dice)
        asyncio.run(acompare(saver, general, tree, dice))
        assert general.asked > 0


def test_random_trees_hold_every_verdict() -> None:
    said = [
        verdict(place, since)
        for tree, _dice in trees(1, 80)
        for place, since in tree.places(placed(InMemorySaver(), tree))
    ]
    for part in ("line at", "in a fork of", "is not kept yet", "were deleted"):
        assert any(part in text for text in said), part


def address(dsn: str) -> str:
    return make_conninfo(dsn, options="-c search_path=oasflow")


CONNECTED: Any = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
_DELETE = (
    "delete from checkpoints where thread_id = %s and checkpoint_ns = %s and checkpoint_id = %s"
)


def empty(connection: Connection[Any]) -> None:
    connection.execute("delete from checkpoints")


@pytest.mark.parametrize("kind", ["connection", "pool", "pipeline", "strict"])
def test_on_postgres_both_ways_say_the_same_of_random_trees(
    seed: int, kind: str, owner_database: str
) -> None:
    with ExitStack() as stack:
        connection = stack.enter_context(Connection.connect(address(owner_database), **CONNECTED))
        if kind == "pool":
            pool: Any = ConnectionPool(
                address(owner_database), kwargs=CONNECTED, min_size=1, max_size=2, open=False
            )
            saver = PostgresSaver(stack.enter_context(pool))
        elif kind == "pipeline":
            own = stack.enter_context(Connection.connect(address(owner_database), **CONNECTED))
            saver = PostgresSaver(own, pipe=stack.enter_context(own.pipeline()))
        else:
            saver = PostgresSaver(connection)
        if kind == "strict":
            saver = with_strict_serializer(saver)
        for tree, dice in trees(seed):
            empty(connection)
            place_in(saver, tree)
            if saver.pipe is not None:
                saver.pipe.sync()
            for gone in tree.deleted:
                connection.execute(_DELETE, gone)
            general = in_any_way(saver)
            compare(saver, general, tree, dice)
            assert general.asked > 0


@pytest.mark.parametrize("kind", ["connection", "pool", "pipeline", "strict"])
def test_on_postgres_on_an_event_loop_both_ways_say_the_same_of_random_trees(
    seed: int, kind: str, owner_database: str
) -> None:
    asyncio.run(_on_an_event_loop(seed, kind, owner_database))


async def _on_an_event_loop(seed: int, kind: str, dsn: str) -> None:
    with Connection.connect(address(dsn), **CONNECTED) as connection:
        if kind == "pool":
            pool: Any = AsyncConnectionPool(
                address(dsn), kwargs=CONNECTED, min_size=1, max_size=2, open=False
            )
            async with pool:
                await _compare_on_an_event_loop(AsyncPostgresSaver(pool), connection, seed)
            return
        async with await AsyncConnection.connect(address(dsn), **CONNECTED) as own:
            if kind == "pipeline":
                async with own.pipeline() as pipe:
                    await _compare_on_an_event_loop(AsyncPostgresSaver(own, pipe), connection, seed)
                return
            saver = AsyncPostgresSaver(own)
            if kind == "strict":
                saver = with_strict_serializer(saver)
            await _compare_on_an_event_loop(saver, connection, seed)


async def _compare_on_an_event_loop(saver: Any, connection: Connection[Any], seed: int) -> None:
    # The tree is put there by another saver, so that this one only reads.
    writer = PostgresSaver(connection)
    for tree, dice in trees(seed):
        empty(connection)
        place_in(writer, tree)
        for gone in tree.deleted:
            connection.execute(_DELETE, gone)
        general = in_any_way(saver)
        await acompare(saver, general, tree, dice)
        # A graph that another thread runs synchronously asks the same saver.
        await asyncio.to_thread(compare, saver, general, tree, dice)
        assert general.asked > 0


class Unreadable:
    """Refuses to make a value of a stored one."""

    def dumps_typed(self, _value: Any) -> tuple[str, bytes]:
        return "msgpack", b""

    def loads_typed(self, _stored: Any) -> Any:
        raise AssertionError("a value was made")


def test_no_value_of_a_checkpoint_is_made() -> None:
    saver = InMemorySaver(serde=Unreadable())
    saver.put(config_of("t1", ""), checkpoint("1001"), {}, {})
    saver.put(config_of("t1", "", "1001"), checkpoint("1002"), {}, {})
    expected = [CheckpointLink("1002", "1001"), CheckpointLink("1001", "")]
    assert read_links(saver, "t1", "", limit=5) == expected
    assert asyncio.run(aread_links(saver, "t1", "", limit=5)) == expected
    assert read_namespaces(saver, "t1") == {""}


def test_of_postgres_nothing_but_ids_is_asked(fresh_database: str) -> None:
    with Connection.connect(address(fresh_database), **CONNECTED) as connection:
        saver = PostgresSaver(connection, serde=Unreadable())
        writer = PostgresSaver(connection)
        writer.put(config_of("t1", ""), {**checkpoint("1001"), "channel_values": {"a": [1]},
                   "channel_versions": {"a": "1"}}, {}, {"a": "1"})  # fmt: skip
        writer.put_writes(config_of("t1", "", "1001"), [("a", [2])], "task")
        with pytest.raises(AssertionError, match="a value was made"):
            list(saver.list(config_of("t1")))
        assert read_links(saver, "t1", "", limit=5) == [CheckpointLink("1001", "")]


def test_a_saver_that_lists_in_its_own_way_is_asked_by_list() -> None:
    class Hiding(InMemorySaver):
        """Keeps one checkpoint from everybody."""

        def list(self, *args: Any, **more: Any) -> Iterator[Any]:
            return (kept for kept in super().list(*args, **more) if kept.checkpoint["id"] != "1002")

    class Further(Hiding):
        pass

    for kind in (Hiding, Further):
        saver = kind()
        for own in ("1001", "1002", "1003"):
            saver.put(config_of("t1", ""), checkpoint(own), {}, {})
        assert [link.id for link in read_links(saver, "t1", "", limit=5)] == ["1003", "1001"]
        strict = with_strict_serializer(saver)
        assert [link.id for link in read_links(strict, "t1", "", limit=5)] == ["1003", "1001"]
        found = asyncio.run(aread_links(saver, "t1", "", limit=5))
        assert [link.id for link in found] == ["1003", "1001"]


def test_a_saver_whose_own_list_was_exchanged_is_asked_by_it() -> None:
    saver = InMemorySaver()
    saver.put(config_of("t1", ""), checkpoint("1001"), {}, {})
    saver.list = lambda *_args, **_more: iter(())  # type: ignore[method-assign]
    assert read_links(saver, "t1", "", limit=5) == []


def test_a_postgres_saver_with_a_query_of_its_own_is_asked_by_list(fresh_database: str) -> None:
    class Tenant(PostgresSaver):
        """Sees the checkpoints with its mark only."""

        def _search_where(self, *args: Any) -> Any:
            where, values = super()._search_where(*args)
            return f'{where} and metadata @> \'{{"tenant": "a"}}\' ', values

    with Connection.connect(address(fresh_database), **CONNECTED) as connection:
        saver = Tenant(connection)
        for own, tenant in (("1001", "a"), ("1002", "b")):
            saver.put(config_of("t1", ""), checkpoint(own), {"tenant": tenant}, {})  # type: ignore[typeddict-unknown-key]
        assert [link.id for link in read_links(saver, "t1", "", limit=5)] == ["1001"]


def test_any_other_saver_is_asked_by_list() -> None:
    kept = InMemorySaver()
    kept.put(config_of("t1", "child:1"), checkpoint("1001"), {}, {})

    class Other(BaseCheckpointSaver[Any]):
        def list(self, *args: Any, **more: Any) -> Iterator[Any]:
            return kept.list(*args, **more)

        async def alist(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
            for one in kept.list(*args, **more):
                yield one

    assert read_links(Other(), "t1", "child:1", limit=5) == [CheckpointLink("1001", "")]
    assert asyncio.run(aread_links(Other(), "t1", "child:1", limit=5)) == [
        CheckpointLink("1001", "")
    ]
    assert read_namespaces(Other(), "t1") == {"child:1"}
    assert asyncio.run(aread_namespaces(Other(), "t1")) == {"child:1"}

"""Ids of a thread's checkpoints and of their parents, the newest first, without their values.

In: a checkpointer, a thread and a namespace of it.  Out: a page of `CheckpointLink`s.

    read_links(saver, "t1", "", before="", limit=2)
        ->  [CheckpointLink("1f0b…", "1f0a…"), CheckpointLink("1f0a…", "")]

`saver.list` decodes every value of every listed checkpoint, which can cost more than the step that needs the
ids.  So of LangGraph's own savers only the ids are read: from memory, or by one short query over the saver's
own cursor, and so with its lock, pool and pipeline.  Any other saver, also a subclass that overrides a part of
these, is asked by `list` or `alist`.  A saver may also answer by itself (`KnowsLinks`).
"""

from __future__ import annotations

import asyncio
import functools
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeGuard

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.base import id as engine_ids
from langgraph.checkpoint.base.id import UUID, uuid6
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.errors import EngineUnsupported


class CheckpointLink(NamedTuple):
    """One checkpoint."""

    id: str
    parent: str
    """Id of the previous checkpoint; empty for the first."""


class KnowsLinks(Protocol):
    """A saver that tells the ids of its checkpoints without reading them."""

    def read_links(
        self, thread: str, namespace: str, *, before: str, limit: int
    ) -> list[CheckpointLink]: ...
    def read_namespaces(self, thread: str) -> set[str]: ...


def _knows_links(saver: object) -> TypeGuard[KnowsLinks]:
    # Not by the protocol: isinstance would look at each of its members at each read.
    return hasattr(type(saver), "read_links")


def config_of(thread: str, namespace: str | None = None, checkpoint: str = "") -> RunnableConfig:
    """The config that names a thread, a namespace of it (None: all) and a checkpoint to a saver."""
    about = {"thread_id": thread}
    if namespace is not None:
        about["checkpoint_ns"] = namespace
    if checkpoint:
        about["checkpoint_id"] = checkpoint
    return {"configurable": about}


def read_links(
    saver: BaseCheckpointSaver[Any], thread: str, namespace: str, *, before: str = "", limit: int
) -> list[CheckpointLink]:
    """At most `limit` checkpoints with ids below `before`; empty: from the newest on."""
    if _knows_links(saver):
        return saver.read_links(thread, namespace, before=before, limit=limit)
    known = _recognize_saver(saver)
    if known == "memory":
        return _links_in_memory(saver, thread, namespace, before, limit)
    rows = _fetch_rows(saver, known, _links_query(thread, namespace, before, limit))
    if rows is not None:
        return [_link_of(row) for row in rows]
    below = config_of(thread, namespace, before) if before else None
    page = saver.list(config_of(thread, namespace), before=below, limit=limit)
    return [_read_tuple_link(kept) for kept in page]


async def aread_links(
    saver: BaseCheckpointSaver[Any], thread: str, namespace: str, *, before: str = "", limit: int
) -> list[CheckpointLink]:
    """As `read_links`, for an event loop."""
    if _knows_links(saver):
        return await asyncio.to_thread(
            saver.read_links, thread, namespace, before=before, limit=limit
        )
    known = _recognize_saver(saver)
    if known == "memory":
        return _links_in_memory(saver, thread, namespace, before, limit)
    if known == "async postgres":
        rows = await _afetch_rows(saver, _links_query(thread, namespace, before, limit))
        return [_link_of(row) for row in rows]
    below = config_of(thread, namespace, before) if before else None
    page = saver.alist(config_of(thread, namespace), before=below, limit=limit)
    return [_read_tuple_link(kept) async for kept in page]


def read_namespaces(saver: BaseCheckpointSaver[Any], thread: str) -> set[str]:
    """The namespaces in which the thread has checkpoints."""
    if _knows_links(saver):
        return saver.read_namespaces(thread)
    known = _recognize_saver(saver)
    if known == "memory":
        return _namespaces_in_memory(saver, thread)
    rows = _fetch_rows(saver, known, (_NAMESPACES, (thread,)))
    if rows is not None:
        return {row["checkpoint_ns"] for row in rows}
    return {_read_namespace(kept) for kept in saver.list(config_of(thread))}


async def aread_namespaces(saver: BaseCheckpointSaver[Any], thread: str) -> set[str]:
    """As `read_namespaces`, for an event loop."""
    if _knows_links(saver):
        return await asyncio.to_thread(saver.read_namespaces, thread)
    known = _recognize_saver(saver)
    if known == "memory":
        return _namespaces_in_memory(saver, thread)
    if known == "async postgres":
        return {row["checkpoint_ns"] for row in await _afetch_rows(saver, (_NAMESPACES, (thread,)))}
    return {_read_namespace(kept) async for kept in saver.alist(config_of(thread))}


# ------------------------------------------------------------------ known savers

Known: TypeAlias = Literal["memory", "postgres", "async postgres", ""]

_SYNC: Final = frozenset({"list", "_search_where", "_load_checkpoint_tuple", "SELECT_SQL"})
_PARTS: Final[dict[Known, frozenset[str]]] = {
    "memory": frozenset({"list", "alist"}),
    "postgres": _SYNC,
    "async postgres": _SYNC | {"alist"},
    "": frozenset(),
}
"""Attributes that decide which checkpoints a saver lists; no subclass or instance may override
them.
"""


def _recognize_saver(saver: BaseCheckpointSaver[Any]) -> Known:
    """The way to read only the saver's ids; empty where there is none."""
    own: Any = type(saver)
    known = _known_class(own)
    return known if _PARTS[known].isdisjoint(getattr(saver, "__dict__", ())) else ""


@functools.lru_cache(maxsize=64)
def _known_class(own: type) -> Known:
    # A saver's module is imported already if a saver of it exists, and importing these modules is
    # slow.
    sync = sys.modules.get("langgraph.checkpoint.postgres")
    loop = sys.modules.get("langgraph.checkpoint.postgres.aio")
    kinds: tuple[tuple[Known, type | None], ...] = (
        ("memory", InMemorySaver),
        ("postgres", getattr(sync, "PostgresSaver", None)),
        ("async postgres", getattr(loop, "AsyncPostgresSaver", None)),
    )
    for name, kind in kinds:
        if kind is not None and issubclass(own, kind):
            same = all(getattr(own, part) is getattr(kind, part) for part in _PARTS[name])
            return name if same else ""
    return ""


# ------------------------------------------------------------------ in memory


def _links_in_memory(
    saver: Any, thread: str, namespace: str, before: str, limit: int
) -> list[CheckpointLink]:
    kept = saver.storage.get(thread, {}).get(namespace, {})
    ids = sorted(kept)  # a copy: another task may be writing
    if before:
        ids = [own for own in ids if own < before]
    found = []
    for own in ids[: -limit - 1 : -1]:
        entry = kept.get(own)
        if entry is not None:
            found.append(CheckpointLink(own, entry[2] or ""))
    return found


def _namespaces_in_memory(saver: Any, thread: str) -> set[str]:
    kept = saver.storage.get(thread, {})
    return {namespace for namespace in list(kept) if kept.get(namespace)}


# ------------------------------------------------------------------ in Postgres

Query: TypeAlias = tuple[str, tuple[Any, ...]]
Cursors: TypeAlias = "Callable[[], AbstractContextManager[Any]]"

_LINKS: Final = (
    "select checkpoint_id, parent_checkpoint_id from checkpoints "
    "where thread_id = %s and checkpoint_ns = %s {below}order by checkpoint_id desc limit %s"
)
_NEWEST: Final = _LINKS.format(below="")
_BELOW: Final = _LINKS.format(below="and checkpoint_id < %s ")
_NAMESPACES: Final = "select distinct checkpoint_ns from checkpoints where thread_id = %s"


def _links_query(thread: str, namespace: str, before: str, limit: int) -> Query:
    if before:
        return _BELOW, (thread, namespace, before, limit)
    return _NEWEST, (thread, namespace, limit)


def fetch_links(
    cursors: Cursors, thread: str, namespace: str, before: str, limit: int
) -> list[CheckpointLink]:
    """As `read_links`, always from Postgres."""
    query = _links_query(thread, namespace, before, limit)
    return [_link_of(row) for row in _fetch_from(cursors, query)]


def fetch_namespaces(cursors: Cursors, thread: str) -> set[str]:
    """As `read_namespaces`, always from Postgres."""
    return {row["checkpoint_ns"] for row in _fetch_from(cursors, (_NAMESPACES, (thread,)))}


def _fetch_from(cursors: Cursors, query: Query) -> list[dict[str, Any]]:
    with cursors() as cursor:
        cursor.execute(*query)
        found: list[dict[str, Any]] = cursor.fetchall()
        return found


def _fetch_rows(saver: Any, known: Known, query: Query) -> list[dict[str, Any]] | None:
    """The rows from Postgres; None where the saver must be asked by `list`."""
    if known == "postgres":
        return _fetch_from(saver._cursor, query)  # noqa: SLF001 - the saver's own way to its connection
    # In the saver's own loop, its `list` raises the fitting error.
    if known == "async postgres" and not _runs_in(saver.loop):
        return asyncio.run_coroutine_threadsafe(_afetch_rows(saver, query), saver.loop).result()
    return None


async def _afetch_rows(saver: Any, query: Query) -> list[dict[str, Any]]:
    async with saver._cursor() as cursor:  # noqa: SLF001 - the saver's own way to its connection
        await cursor.execute(*query)
        found: list[dict[str, Any]] = await cursor.fetchall()
        return found


def _runs_in(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _link_of(row: dict[str, Any]) -> CheckpointLink:
    return CheckpointLink(row["checkpoint_id"], row["parent_checkpoint_id"] or "")


# ------------------------------------------------------------------ any other saver


def _read_tuple_link(kept: CheckpointTuple) -> CheckpointLink:
    parent = (kept.parent_config or {}).get("configurable") or {}
    return CheckpointLink(kept.checkpoint["id"], parent.get("checkpoint_id") or "")


def _read_namespace(kept: CheckpointTuple) -> str:
    namespace: str = kept.config["configurable"]["checkpoint_ns"]
    return namespace


# ----------------------------------------------------------------------------
# New checkpoint ids of this process, held above the existing ids of a thread.
#
# In: the id of a checkpoint that this process goes on from.  Out: later ids sort after it.
#
# The engine orders the checkpoints of a thread by ids that each process makes from its own clock.  A
# process with a slow clock would write checkpoints that sort before existing ones, so a reader of the
# newest checkpoint would not find them: calls would be repeated, and a rejection lost.
#
# The engine never makes an id below its last id (RFC 9562, version 6).  This code raises that last id, for the
# whole process.


_FIRST_TICK: Final = 0x01B21DD213814000
"""1970 in ticks of 100 ns since 1582, the beginning of an id's time."""
FURTHEST: Final = 100 * 366 * 86_400
"""Seconds by which an id may be ahead of this clock.

No clock is so wrong: such an id was forged.  Without a bound one row could use up the ids that sort
after it, for every run of the process.
"""


def move_ids_beyond(checkpoint: str) -> bool:
    """Make every later id of this process sort after `checkpoint`.

    False, with nothing changed, where the id is ahead by more than `FURTHEST`.  An id that the
    engine did not make tells nothing about a clock: True.

    Raises: `EngineUnsupported`.
    """
    now = time.time_ns() // 100
    if checkpoint[:18] < _earliest_id(now):
        return True
    try:
        made = UUID(checkpoint)
    except ValueError:
        return True
    if made.version != 6:
        return True
    if made.time - _FIRST_TICK - now > FURTHEST * 10_000_000:
        return False
    # Between the comparison and the assignment there is no call, here and in the engine, so no other
    # thread comes in between.
    last = engine_ids._last_v6_timestamp  # noqa: SLF001 - no public way; test_id_clock.py tells
    if last is None or last < made.time:
        engine_ids._last_v6_timestamp = made.time  # type: ignore[assignment]  # noqa: SLF001 - as above; None at first
    if str(uuid6()) <= checkpoint:
        raise EngineUnsupported(
            "this version of LangGraph does not take the ids of its checkpoints further",
            hint="set this machine's clock right, or install a version that this project supports",
        )
    return True


def _earliest_id(ticks: int) -> str:
    """How an id of this moment begins; `ticks` since 1970.  The engine makes none that is earlier."""
    since = ticks + _FIRST_TICK
    return f"{since >> 28:08x}-{since >> 12 & 0xFFFF:04x}-6{since & 0xFFF:03x}"

"""Ids of a thread's checkpoints and of their parents, the newest first, and nothing that they hold.

In: a checkpointer, a thread and a namespace of it.  Out: a page of `Link`s.

    read_links(saver, "t1", "", before="", limit=2)  ->  [Link("1f0b…", "1f0a…"), Link("1f0a…", "")]

`saver.list` makes every value of every checkpoint that it gives, which can cost more than the step
that asks.  Of LangGraph's own savers the ids are read by themselves: from the memory, or by one
short query over the saver's own cursor, so under its lock, on its pool and in its pipeline.  Any
other saver is asked by `list` or `alist`, also one that only overrides a part of these.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final, NamedTuple, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver


class Link(NamedTuple):
    """One checkpoint."""

    id: str
    parent: str
    """Id of the checkpoint that it went on from; empty: of none."""


def config_of(thread: str, namespace: str | None = None, checkpoint: str = "") -> RunnableConfig:
    """How a saver is told which thread, which namespace of it (None: all), which checkpoint."""
    about = {"thread_id": thread}
    if namespace is not None:
        about["checkpoint_ns"] = namespace
    if checkpoint:
        about["checkpoint_id"] = checkpoint
    return {"configurable": about}


def read_links(
    saver: BaseCheckpointSaver[Any], thread: str, namespace: str, *, before: str = "", limit: int
) -> list[Link]:
    """At most `limit` checkpoints with ids below `before`; empty: from the newest on."""
    if _is_memory(saver):
        return _links_in_memory(saver, thread, namespace, before, limit)
    rows = _rows(saver, _links_query(thread, namespace, before, limit))
    if rows is not None:
        return [_link_of(row) for row in rows]
    below = config_of(thread, namespace, before) if before else None
    page = saver.list(config_of(thread, namespace), before=below, limit=limit)
    return [_link(kept) for kept in page]


async def aread_links(
    saver: BaseCheckpointSaver[Any], thread: str, namespace: str, *, before: str = "", limit: int
) -> list[Link]:
    """As `read_links`, for an event loop."""
    if _is_memory(saver):
        return _links_in_memory(saver, thread, namespace, before, limit)
    if _is_async_postgres(saver):
        rows = await _arows(saver, _links_query(thread, namespace, before, limit))
        return [_link_of(row) for row in rows]
    below = config_of(thread, namespace, before) if before else None
    page = saver.alist(config_of(thread, namespace), before=below, limit=limit)
    return [_link(kept) async for kept in page]


def read_namespaces(saver: BaseCheckpointSaver[Any], thread: str) -> set[str]:
    """The namespaces in which the thread has checkpoints."""
    if _is_memory(saver):
        return _namespaces_in_memory(saver, thread)
    rows = _rows(saver, (_NAMESPACES, (thread,)))
    if rows is not None:
        return {row["checkpoint_ns"] for row in rows}
    return {_namespace(kept) for kept in saver.list(config_of(thread))}


async def aread_namespaces(saver: BaseCheckpointSaver[Any], thread: str) -> set[str]:
    """As `read_namespaces`, for an event loop."""
    if _is_memory(saver):
        return _namespaces_in_memory(saver, thread)
    if _is_async_postgres(saver):
        return {row["checkpoint_ns"] for row in await _arows(saver, (_NAMESPACES, (thread,)))}
    return {_namespace(kept) async for kept in saver.alist(config_of(thread))}


# ------------------------------------------------------------------ which savers are known


def _is_memory(saver: object) -> bool:
    return isinstance(saver, InMemorySaver) and _lists_as(saver, InMemorySaver, ("list", "alist"))


_SYNC: Final = ("list", "_search_where", "_load_checkpoint_tuple", "SELECT_SQL")
_ASYNC: Final = ("alist", *_SYNC)


def _is_postgres(saver: object) -> bool:
    # Nobody has such a saver where nobody has imported its module, and importing it takes a while.
    module = sys.modules.get("langgraph.checkpoint.postgres")
    kind = getattr(module, "PostgresSaver", None)
    return kind is not None and isinstance(saver, kind) and _lists_as(saver, kind, _SYNC)


def _is_async_postgres(saver: object) -> bool:
    module = sys.modules.get("langgraph.checkpoint.postgres.aio")
    kind = getattr(module, "AsyncPostgresSaver", None)
    return kind is not None and isinstance(saver, kind) and _lists_as(saver, kind, _ASYNC)


def _lists_as(saver: object, kind: type, parts: tuple[str, ...]) -> bool:
    """Whether no subclass, and not the saver itself, has a way of its own to list checkpoints.

    parts: what decides which checkpoints `kind` lists.
    """
    own, patched = type(saver), getattr(saver, "__dict__", {})
    for part in parts:
        if part in patched or getattr(own, part) is not getattr(kind, part):
            return False
    return True


# ------------------------------------------------------------------ in memory


def _links_in_memory(
    saver: Any, thread: str, namespace: str, before: str, limit: int
) -> list[Link]:
    kept = saver.storage.get(thread, {}).get(namespace, {})
    ids = sorted(kept, reverse=True)
    if before:
        ids = [own for own in ids if own < before]
    found = ((own, kept.get(own)) for own in ids[:limit])
    return [Link(own, entry[2] or "") for own, entry in found if entry is not None]


def _namespaces_in_memory(saver: Any, thread: str) -> set[str]:
    kept = saver.storage.get(thread, {})
    return {namespace for namespace in list(kept) if kept.get(namespace)}


# ------------------------------------------------------------------ in Postgres

Query: TypeAlias = tuple[str, tuple[Any, ...]]

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


def _rows(saver: Any, query: Query) -> list[dict[str, Any]] | None:
    """What Postgres answers; None where the saver is none of those that are known."""
    if _is_postgres(saver):
        with saver._cursor() as cursor:  # noqa: SLF001 - the saver's own way to its connection
            cursor.execute(*query)
            found: list[dict[str, Any]] = cursor.fetchall()
            return found
    # In the saver's own loop its `list` says what is wrong with asking there.
    if _is_async_postgres(saver) and not _runs_in(saver.loop):
        return asyncio.run_coroutine_threadsafe(_arows(saver, query), saver.loop).result()
    return None


async def _arows(saver: Any, query: Query) -> list[dict[str, Any]]:
    async with saver._cursor() as cursor:  # noqa: SLF001 - the saver's own way to its connection
        await cursor.execute(*query)
        found: list[dict[str, Any]] = await cursor.fetchall()
        return found


def _runs_in(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _link_of(row: dict[str, Any]) -> Link:
    return Link(row["checkpoint_id"], row["parent_checkpoint_id"] or "")


# ------------------------------------------------------------------ any other saver


def _link(kept: CheckpointTuple) -> Link:
    parent = (kept.parent_config or {}).get("configurable") or {}
    return Link(kept.checkpoint["id"], parent.get("checkpoint_id") or "")


def _namespace(kept: CheckpointTuple) -> str:
    namespace: str = kept.config["configurable"]["checkpoint_ns"]
    return namespace

r"""Whether a node stands on its thread's own line, or on a fork of it.

In: the place of the node that runs now: its checkpointer, thread, namespace and checkpoint.
Out: the id of that checkpoint if no earlier checkpoint has a second continuation, or `ForkRefused`.

    a — b — c — d            the node runs on d: on the line
         \\
          e — f              the node runs on f: b has two continuations: a fork

Time travel (`checkpoint_id` in a config), `update_state` on an older checkpoint and a copied thread
all make forks.  In a fork an answered gate, even a rejected one, can be answered again, and a call
is made again.  So no node acts in a fork, unless the host allows it.

The ids of the checkpoints are read backwards, a page at a time, from the newest to the checkpoint
that an earlier check reached (`since`): usually one short query.

A process whose clock is behind the checkpoint that a node runs on makes later ids all the same
(`id_clock`).  A checkpoint that is further ahead than any clock is wrong lets no node act or answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config
from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph

from cinatra_sdk.errors import ForkRefused
from cinatra_sdk.langgraph_internals import task_facts
from cinatra_sdk.langgraph_internals.checkpoint_ids import (
    CheckpointLink,
    aread_links,
    move_ids_beyond,
    read_links,
)
from cinatra_sdk.langgraph_threads.host_context import Effects, context_of
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.langgraph_threads.tasks import own_channels, unsupported

FIRST_PAGE: Final = 2
"""Checkpoints of the first query after an earlier check: the node's own, and the last one
checked.
"""
PAGE: Final = 16
"""Checkpoints of every other query."""
_WAITS: Final = (0.0, 0.0, 0.0002, 0.0005, *(0.001,) * 4, *(0.01,) * 20, *(0.05,) * 55)
"""Seconds to wait before each further read of a checkpoint that is still being written.

With durability "async", the engine's own choice, a node begins while the checkpoint before it is on
its way to the database.  That takes milliseconds; a database that takes longer than this is in
trouble, and a thread of the host must not wait for it.  The first waits only let the thread work
that keeps it: in memory that is enough, and a sleep would cost more than the whole superstep.
"""


class ThreadPlace(NamedTuple):
    """The place of a running node in its thread."""

    saver: BaseCheckpointSaver[Any]
    thread: str
    namespace: str
    """Namespace of the node's graph; empty for the outermost graph."""
    checkpoint: str
    """Id of the checkpoint that the node's state was read from; empty: the newest one."""
    is_kept: bool = True
    """False with durability "exit": then no checkpoint is stored before the graph stops."""

    def page(self, before: str, size: int) -> list[CheckpointLink]:
        return read_links(self.saver, self.thread, self.namespace, before=before, limit=size)

    async def apage(self, before: str, size: int) -> list[CheckpointLink]:
        return await aread_links(self.saver, self.thread, self.namespace, before=before, limit=size)


def require_known(effects: object) -> None:
    """Raise `ValueError` for a value outside of `Effects`."""
    if effects not in ("line", "forks"):
        raise ValueError(f'effects is "line" or "forks", not {effects!r}')


def place_of(config: RunnableConfig, execution: Any) -> ThreadPlace | None:
    """The place of the node that runs with `config`; None where no checkpoint is kept.

    execution: the runtime's `execution_info`.
    Raises: `EngineUnsupported` where the engine does not tell the place.
    """
    saver = task_facts.find_checkpointer(config)
    if saver is task_facts.NOT_TOLD:
        raise unsupported("where checkpoints are kept, so no fork can be told from a thread's line")
    if (
        execution is None
        or execution.thread_id is None
        or not isinstance(saver, BaseCheckpointSaver)
    ):
        return None
    return ThreadPlace(
        saver=saver,
        thread=str(execution.thread_id),
        namespace=execution.checkpoint_ns.rpartition("|")[0],
        checkpoint=execution.checkpoint_id,
        is_kept=task_facts.is_stored_on_the_way(config),
    )


def require_line(place: ThreadPlace, *, since: str, node: str) -> str:
    """The checkpoint's id, to be given as `since` the next time.

    since: the result of an earlier check of this thread; empty without an earlier check.
    Raises: `ForkRefused`, which names `node`.
    """
    write_beyond(place, node)
    walk = _walk_lineage(place, since)
    for seconds in _list_retry_waits(place, walk):
        time.sleep(seconds)
        walk = _walk_lineage(place, since)
        if walk.verdict != "unsaved":
            break
    return _require_own_line(place, walk, node)


async def arequire_line(place: ThreadPlace, *, since: str, node: str) -> str:
    """As `require_line`, for an event loop."""
    write_beyond(place, node)
    walk = await _awalk_lineage(place, since)
    for seconds in _list_retry_waits(place, walk):
        await asyncio.sleep(seconds)
        walk = await _awalk_lineage(place, since)
        if walk.verdict != "unsaved":
            break
    return _require_own_line(place, walk, node)


def refuse_copy(identity: dict[str, Any], place: ThreadPlace | None, node: str) -> None:
    """Raise `ForkRefused` where the run was begun on another thread."""
    begun = identity.get("thread", "")
    if place is not None and begun and begun != place.thread:
        raise ForkRefused(
            f"node '{node}' runs on thread '{place.thread}', a copy of thread '{begun}'",
            node=node,
            hint=_HINT,
        )


def write_beyond(place: ThreadPlace | None, node: str) -> None:
    """Let the writes of `node` sort after the checkpoint that it runs on, whatever the clock says.

    Raises: `ForkRefused` where no id could.
    """
    if place is not None and not move_ids_beyond(place.checkpoint):
        raise ForkRefused(
            f"node '{node}' runs on a checkpoint of thread '{place.thread}' that is ahead of this "
            "process's clock by more than a century",
            node=node,
            hint="nothing was done: the checkpoint was forged, or the clock is wrong",
        )


_HINT: Final = (
    'start a new run, or allow effects in forks: effects="forks" in the host\'s context or graph'
)


def _walk_lineage(place: ThreadPlace, since: str) -> _Walk:
    walk = _Walk(place.checkpoint, since)
    while walk.verdict == "open":
        walk.read(place.page(walk.before, walk.size))
    return walk


async def _awalk_lineage(place: ThreadPlace, since: str) -> _Walk:
    walk = _Walk(place.checkpoint, since)
    while walk.verdict == "open":
        walk.read(await place.apage(walk.before, walk.size))
    return walk


def _list_retry_waits(place: ThreadPlace, walk: _Walk) -> tuple[float, ...]:
    """Seconds to wait before each further read; empty where another read would give the same
    result.
    """
    return _WAITS if walk.verdict == "unsaved" and place.is_kept else ()


def _require_own_line(place: ThreadPlace, walk: _Walk, node: str) -> str:
    if walk.verdict == "line":
        return place.checkpoint
    if walk.verdict == "unsaved":
        raise _not_kept(place, node)
    if walk.verdict == "pruned":
        raise ForkRefused(
            f"node '{node}' acts, and the checkpoints that would show that it stands on the line of "
            f"thread '{place.thread}' were deleted",
            node=node,
            hint=_HINT,
        )
    raise ForkRefused(
        f"node '{node}' was reached in a fork of thread '{place.thread}', and forks do not act",
        node=node,
        hint=_HINT,
    )


def _not_kept(place: ThreadPlace, node: str) -> ForkRefused:
    if not place.is_kept:
        return ForkRefused(
            f"node '{node}' acts, and the checkpoint before it is not kept yet",
            node=node,
            hint='run the graph with durability="sync"',
        )
    return ForkRefused(
        f"node '{node}' acts, and the checkpoint before it was not kept within "
        f"{sum(_WAITS):.0f} seconds",
        node=node,
        hint="nothing was called: when the checkpointer's database answers again, go on with the "
        'thread (invoke with None); durability="sync" waits for it as long as it takes',
    )


class _Walk:
    """One check of a thread, fed with its checkpoints from the newest on."""

    def __init__(self, checkpoint: str, since: str) -> None:
        self._expected = checkpoint
        self._since = since
        self._begun = False
        self.verdict: Literal["open", "line", "fork", "unsaved", "pruned"] = "open"
        self.before = ""
        """Where the next page begins: below this id; empty: at the newest."""
        self.size = FIRST_PAGE if since else PAGE
        """Of the next page."""

    def read(self, page: list[CheckpointLink]) -> None:
        """Process the next page."""
        for link in page:
            self._read_one(link)
            if self.verdict != "open":
                return
        if len(page) < self.size:
            # The thread began here; or its earlier checkpoints were deleted, and with them perhaps
            # the fork.
            unsaved = not self._begun and page
            self.verdict = "unsaved" if unsaved else "pruned" if self._is_cut_off() else "line"
            return
        self.before, self.size = page[-1].id, PAGE

    def _is_cut_off(self) -> bool:
        return self._begun and bool(self._expected)

    def _read_one(self, link: CheckpointLink) -> None:
        if not self._begun and not self._expected:
            self._expected = link.id  # no node: the newest checkpoint is checked
        if link.id == self._expected:
            self._begun = True
            self._expected = link.parent
            if link.id == self._since:
                self.verdict = "line"
        elif not self._begun and link.id < self._expected:
            self.verdict = "unsaved"
        else:
            self.verdict = "fork"


# ----------------------------------------------------------------------------
# Whether a node may act on the world outside: a call, a tool, a subflow with such nodes.
#
# In: the state and the runtime of the node, and where its graph lets nodes act.  Out: the checkpoint
# up to which the thread is known to have no fork, or an error: the node stands in a fork in which the
# host does not let nodes act.
#
# The code of the running graph says where nodes may act, and the thread does not: clients write into
# threads, and another graph of the host may have begun the thread.


_N = TypeVar("_N")


def refuse_forks(
    state: Mapping[str, Any], runtime: Any, *, node: str, effects: Effects, since: str = ""
) -> str:
    """Check that the node may act where it stands.

    effects: where the node's graph lets it act, unless the host's context says otherwise.  since:
    the result of an earlier check of this thread.  Returns the `since` of the next check; empty
    where the thread was not checked.  What else is asked before an effect: `cinatra_sdk.outside.effects`.
    Raises: `ForkRefused`.
    """
    place = _place_to_check(state, runtime, node, effects)
    return "" if place is None else require_line(place, since=since, node=node)


async def arefuse_forks(
    state: Mapping[str, Any], runtime: Any, *, node: str, effects: Effects, since: str = ""
) -> str:
    """As `refuse_forks`, for an event loop."""
    place = _place_to_check(state, runtime, node, effects)
    return "" if place is None else await arequire_line(place, since=since, node=node)


_QUIET: Final = "does_not_act"


def does_not_act(node: _N) -> _N:
    """`node`, marked as a node that changes nothing outside the run."""
    object.__setattr__(node, _QUIET, True)
    return node


def may_act(graph: CompiledStateGraph[Any, Any, Any, Any]) -> bool:
    """Whether a node of `graph`, or of a graph inside it, may act: every node without that mark
    may.
    """
    nodes = (node.bound for name, node in graph.nodes.items() if name != START)
    # The engine wraps a plain function; the mark stays on the function.
    return not all(
        getattr(node, _QUIET, False) or getattr(getattr(node, "func", None), _QUIET, False)
        for node in nodes
    )


def seen_update(seen: str) -> dict[str, Any]:
    """The update that stores how far a block of a hand-written graph has checked the thread."""
    return {"seen": seal(seen)} if seen and "seen" in own_channels() else {}


def allows_forks(runtime: Any, effects: Effects) -> bool:
    """Whether nodes may act in forks: the host's setting overrides the graph's."""
    return (context_of(runtime.context).effects or effects) == "forks"


def _place_to_check(
    state: Mapping[str, Any], runtime: Any, node: str, effects: Effects
) -> ThreadPlace | None:
    """Where the node stands; None where it may act in every place."""
    if allows_forks(runtime, effects):
        return None
    identity = state.get("run") or {}
    place = place_of(get_config(), runtime.execution_info)
    refuse_copy(identity, place, node)
    return place

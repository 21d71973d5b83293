"""A graph inside a node that is entered once more for the same visit: it goes on where it was.

A further input on a thread, a jump or an `update_state` makes new tasks of the engine.  A graph
inside a node keeps its state under the task's name, so it would begin anew and make the calls in
front of its gate again.  Its last checkpoint is copied to the new name instead; its own first node
then leads on from there.

What is copied must be the graph's own line: a fork of it would be one no more under its new name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple

from cinatra_sdk.lineage import Place, arequire_line, require_line
from cinatra_sdk.state import MISSING, unseal


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One visit of a node with a graph inside, under the task that runs now."""

    place: Place
    """Of the node itself."""
    own: str
    """Namespace of the graph inside, under this task."""
    scope: str
    """Of the run inside, `outer/inner#2`: tells this visit from earlier ones."""
    turn: int | None
    """Number of the step that passed the turn to the node; None in a graph that keeps no turn."""
    node: str
    forks: bool
    """Whether the host lets nodes act in forks."""


def go_on_inside(visit: Visit) -> None:
    """Copy what the graph inside had come to, where it has nothing under its own name yet.

    Raises: `ForkRefused` where that is a fork of its own line.
    """
    place, config = visit.place, _config(visit.place, visit.own)
    if place.saver.get_tuple(config) is not None:
        return
    if visit.turn is not None:
        newest = place.saver.list(place.config(), limit=2)
        if not _had_the_turn(visit, newest):
            return
    begun = _newest_begun(visit, place.saver.list(_config(place)))
    if begun is None:
        return
    if not visit.forks:
        require_line(_place(visit, begun), since="", node=visit.node)
    place.saver.put(*_copied(config, begun))


async def ago_on_inside(visit: Visit) -> None:
    """As `go_on_inside`, for an event loop."""
    place, config = visit.place, _config(visit.place, visit.own)
    if await place.saver.aget_tuple(config) is not None:
        return
    if visit.turn is not None:
        newest = place.saver.alist(place.config(), limit=2)
        if not _had_the_turn(visit, [kept async for kept in newest]):
            return
    every = place.saver.alist(_config(place))
    begun = _newest_begun(visit, [kept async for kept in every])
    if begun is None:
        return
    if not visit.forks:
        await arequire_line(_place(visit, begun), since="", node=visit.node)
    await place.saver.aput(*_copied(config, begun))


def _config(place: Place, namespace: str | None = None) -> RunnableConfig:
    """Of one namespace of the thread, or of all."""
    named = {} if namespace is None else {"checkpoint_ns": namespace}
    return {"configurable": {"thread_id": place.thread, **named}}


def _had_the_turn(visit: Visit, newest: Iterable[CheckpointTuple]) -> bool:
    """Whether the turn was the node's before the step that made its task: then it ran already.

    The step that passes the turn on makes the first checkpoint with it.
    """
    for kept in newest:
        if kept.checkpoint["id"] == visit.place.checkpoint:
            continue
        try:
            turn = json.loads(kept.checkpoint["channel_values"].get("cursor") or "null")
        except (ValueError, TypeError):
            return False
        return isinstance(turn, dict) and turn.get("seq") == visit.turn
    return False


def _newest_begun(visit: Visit, every: Iterable[CheckpointTuple]) -> CheckpointTuple | None:
    """The last checkpoint of this visit under another task."""
    # Not by pages: a saver need not put the checkpoints of several namespaces in one order.
    begun = [kept for kept in every if _is_same_visit(visit, kept)]
    newest = max(begun, key=lambda kept: kept.checkpoint["id"], default=None)
    if newest is not None and visit.turn is None and _has_ended(newest):
        # Without a turn nothing tells the next time round a loop from this one.
        return None
    return newest


def _is_same_visit(visit: Visit, kept: CheckpointTuple) -> bool:
    if _nodes(kept.config["configurable"]["checkpoint_ns"]) != _nodes(visit.own):
        return False
    identity = unseal(kept.checkpoint["channel_values"].get("run"))
    return identity is not MISSING and identity.get("scope") == visit.scope


def _has_ended(kept: CheckpointTuple) -> bool:
    values = kept.checkpoint["channel_values"]
    return unseal(values.get("ended")) is not MISSING or bool(values.get("rejected_at"))


def _place(visit: Visit, kept: CheckpointTuple) -> Place:
    namespace = kept.config["configurable"]["checkpoint_ns"]
    return replace(visit.place, namespace=namespace, checkpoint=kept.checkpoint["id"])


def _nodes(namespace: str) -> list[str]:
    """The nodes around a graph, without the tasks that ran them: `outer:4f…|inner:09…`."""
    return [part.rpartition(":")[0] for part in namespace.split("|")]


def _copied(config: RunnableConfig, kept: CheckpointTuple) -> tuple[Any, ...]:
    """What the saver's `put` takes to have `kept` under `config` too."""
    metadata = cast("CheckpointMetadata", {**kept.metadata, "source": "fork", "parents": {}})
    return config, kept.checkpoint, metadata, kept.checkpoint["channel_versions"]

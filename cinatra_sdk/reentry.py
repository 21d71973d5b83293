"""A graph inside a node that is entered once more for the same visit: it goes on where it was.

A further input on a thread, a jump or an `update_state` makes new tasks of the engine.  A graph
inside a node keeps its state under the task's name, so it would begin anew and make the calls in
front of its gate again.  Its last checkpoint is copied to the new name instead; its own first node
then leads on from there.

What is copied must be the graph's own line: a fork of it would be one no more under its new name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple

from cinatra_sdk.checkpoint_ids import config_of
from cinatra_sdk.lineage import Place, arequire_line, require_line
from cinatra_sdk.state import MISSING, SEALED, unseal


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


def require_line_inside(visit: Visit | None) -> None:
    """Raise `ForkRefused` where the graph inside came to its end in a fork of its own line.

    Its nodes that act have looked themselves; a gate that was answered anew in a fork has not.
    """
    if visit is not None and not visit.forks:
        inside = replace(visit.place, namespace=visit.own, checkpoint="")
        require_line(inside, since="", node=visit.node)


async def arequire_line_inside(visit: Visit | None) -> None:
    """As `require_line_inside`, for an event loop."""
    if visit is not None and not visit.forks:
        inside = replace(visit.place, namespace=visit.own, checkpoint="")
        await arequire_line(inside, since="", node=visit.node)


def go_on_inside(visit: Visit | None) -> Mapping[str, Any] | None:
    """Copy what the graph inside had come to, where it has nothing under its own name yet.

    Returns what it came to where it has ended already; None: it goes on.
    Raises: `ForkRefused` where that is a fork of its own line.
    """
    if visit is None:
        return None  # no checkpoint is kept
    place, config = visit.place, _config(visit.place, visit.own)
    if place.saver.get_tuple(config) is not None:
        return None
    if visit.turn is not None:
        newest = place.saver.list(config_of(place.thread, place.namespace), limit=2)
        if not _had_the_turn(visit, newest):
            return None
    begun = _newest_begun(visit, place.saver.list(_config(place)))
    if begun is None:
        return None
    if not visit.forks:
        require_line(_place(visit, begun), since="", node=visit.node)
    if _has_ended(begun):
        return _came_to(begun)
    place.saver.put(*_copied(config, begun))
    return None


async def ago_on_inside(visit: Visit | None) -> Mapping[str, Any] | None:
    """As `go_on_inside`, for an event loop."""
    if visit is None:
        return None  # no checkpoint is kept
    place, config = visit.place, _config(visit.place, visit.own)
    if await place.saver.aget_tuple(config) is not None:
        return None
    if visit.turn is not None:
        newest = place.saver.alist(config_of(place.thread, place.namespace), limit=2)
        if not _had_the_turn(visit, [kept async for kept in newest]):
            return None
    every = place.saver.alist(_config(place))
    begun = _newest_begun(visit, [kept async for kept in every])
    if begun is None:
        return None
    if not visit.forks:
        await arequire_line(_place(visit, begun), since="", node=visit.node)
    if _has_ended(begun):
        return _came_to(begun)
    await place.saver.aput(*_copied(config, begun))
    return None


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
    if newest is None or visit.turn is not None or _is_rejected(newest):
        return newest
    # Without a turn nothing tells the next time round a loop from this one.
    return None if _has_ended(newest) else newest


def _is_same_visit(visit: Visit, kept: CheckpointTuple) -> bool:
    if _nodes(kept.config["configurable"]["checkpoint_ns"]) != _nodes(visit.own):
        return False
    identity = unseal(kept.checkpoint["channel_values"].get("run"))
    return identity is not MISSING and identity.get("scope") == visit.scope


def _has_ended(kept: CheckpointTuple) -> bool:
    values = kept.checkpoint["channel_values"]
    return unseal(values.get("ended")) is not MISSING or _is_rejected(kept)


def _is_rejected(kept: CheckpointTuple) -> bool:
    return bool(kept.checkpoint["channel_values"].get("rejected_at"))


def _came_to(kept: CheckpointTuple) -> dict[str, Any]:
    """The state that a checkpoint holds, as the graph's own channels would give it."""
    found: dict[str, Any] = {}
    for key, stored in kept.checkpoint["channel_values"].items():
        value = unseal(stored) if isinstance(stored, bytes) else stored
        if isinstance(value, dict) and {"items", *SEALED} == value.keys():
            value = value["items"]
        if value is not MISSING:
            found[key] = value
    return found


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

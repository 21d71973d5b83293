"""A graph inside a node that is entered once more for the same visit: it goes on where it was.

A further input on a thread makes new tasks of the engine.  A graph inside a node keeps its state
under the task's name, so it would begin anew and make the calls in front of its gate again.  Its
last checkpoint is copied to the new name instead; its own first node then leads on from there.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple

from cinatra_sdk.lineage import Place
from cinatra_sdk.state import MISSING, unseal


def go_on_inside(place: Place, own: str, *, scope: str) -> None:
    """Copy what the graph inside had come to, where it has nothing under its own name yet.

    own:   the namespace of the graph inside, under the task that runs now.
    scope: of the run inside, `outer/inner#2`: tells this visit from earlier ones.
    """
    saver, config = place.saver, _config(place, own)
    if saver.get_tuple(config) is not None:
        return
    # Not by pages: a saver need not put the checkpoints of several namespaces in one order.
    begun = [kept for kept in saver.list(_config(place)) if _is_same_visit(kept, own, scope)]
    if begun:
        saver.put(*_copied(config, max(begun, key=_id)))


async def ago_on_inside(place: Place, own: str, *, scope: str) -> None:
    """As `go_on_inside`, for an event loop."""
    saver, config = place.saver, _config(place, own)
    if await saver.aget_tuple(config) is not None:
        return
    every = saver.alist(_config(place))
    begun = [kept async for kept in every if _is_same_visit(kept, own, scope)]
    if begun:
        await saver.aput(*_copied(config, max(begun, key=_id)))


def was_given_further_input(place: Place) -> bool:
    """Whether the thread got more than one input; for graphs that keep no turn."""
    inputs = place.saver.list(place.config(), filter={"source": "input"}, limit=2)
    return len(list(inputs)) > 1


async def awas_given_further_input(place: Place) -> bool:
    """As `was_given_further_input`, for an event loop."""
    inputs = place.saver.alist(place.config(), filter={"source": "input"}, limit=2)
    return len([kept async for kept in inputs]) > 1


def _config(place: Place, namespace: str | None = None) -> RunnableConfig:
    """Of one namespace of the thread, or of all."""
    named = {} if namespace is None else {"checkpoint_ns": namespace}
    return {"configurable": {"thread_id": place.thread, **named}}


def _id(kept: CheckpointTuple) -> str:
    return kept.checkpoint["id"]


def _is_same_visit(kept: CheckpointTuple, own: str, scope: str) -> bool:
    """Whether `kept` is of the graph inside this node, at this visit, under another task."""
    if _nodes(kept.config["configurable"]["checkpoint_ns"]) != _nodes(own):
        return False
    identity = unseal(kept.checkpoint["channel_values"].get("run"))
    return identity is not MISSING and identity.get("scope") == scope


def _nodes(namespace: str) -> list[str]:
    """The nodes around a graph, without the tasks that ran them: `outer:4f…|inner:09…`."""
    return [part.rpartition(":")[0] for part in namespace.split("|")]


def _copied(config: RunnableConfig, kept: CheckpointTuple) -> tuple[Any, ...]:
    """What the saver's `put` takes to have `kept` under `config` too."""
    metadata = cast("CheckpointMetadata", {**kept.metadata, "source": "fork", "parents": {}})
    return config, kept.checkpoint, metadata, kept.checkpoint["channel_versions"]

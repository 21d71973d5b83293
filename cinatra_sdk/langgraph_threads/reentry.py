"""Continues an inner graph when its node runs again for the same visit.

A further input on a thread, a jump or an `update_state` creates new tasks in the engine.  An inner
graph keeps its state under the name of its task, so under a new task it would start again and repeat the
calls before its gate.  Instead, its last checkpoint is copied to the new name, and its first node
continues from there.

The copied checkpoint must be on the line of the inner graph: under the new name nobody could see a fork.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)

from cinatra_sdk.langgraph_internals.channels import MISSING
from cinatra_sdk.langgraph_internals.checkpoint_ids import (
    CheckpointLink,
    aread_links,
    aread_namespaces,
    config_of,
    read_links,
    read_namespaces,
)
from cinatra_sdk.langgraph_threads.lineage import ThreadPlace, arequire_line, require_line
from cinatra_sdk.langgraph_threads.list_channels import fold_history, read_list, without_seals
from cinatra_sdk.langgraph_threads.state_channels import unseal
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One visit of a node with an inner graph, under the running task."""

    place: ThreadPlace
    """Place of the node itself."""
    own: str
    """Namespace of the inner graph under this task."""
    scope: str
    """Scope of the inner run, `outer/inner#2`."""
    told: bool
    """Whether the scope differs between visits; False in a graph that counts no visits."""
    turn: int | None
    """Number of the step that passed the turn to the node; None in a graph that keeps no turn."""
    node: str
    forks: bool
    """Whether the host lets nodes act in forks."""
    asks: bool
    """Whether the inner graph has a gate, at any depth."""


def require_line_inside(visit: Visit | None) -> None:
    """Raise `ForkRefused` where the inner graph ended in a fork of its own line.

    A gate that was answered again in a fork does not check for forks, and the outer graph would act
    on its answer.  Nodes inside that act check for themselves, and without a gate a fork has the
    same result as the line: neither case needs this check.
    """
    inside = _locate_inner_graph(visit)
    if visit is not None and inside is not None:
        require_line(inside, since="", node=visit.node)


async def arequire_line_inside(visit: Visit | None) -> None:
    """As `require_line_inside`, for an event loop."""
    inside = _locate_inner_graph(visit)
    if visit is not None and inside is not None:
        await arequire_line(inside, since="", node=visit.node)


def _locate_inner_graph(visit: Visit | None) -> ThreadPlace | None:
    """The newest checkpoint of the inner graph; None where no check is needed."""
    if visit is None or visit.forks or not visit.asks:
        return None
    return visit.place._replace(namespace=visit.own, checkpoint="")


def go_on_inside(visit: Visit | None) -> Mapping[str, Any] | None:
    """Copy the inner graph's last checkpoint, unless it has a checkpoint under its own name
    already.

    Returns the result of an inner graph that has ended; None where it continues.
    Raises: `ForkRefused` where the checkpoint is a fork of the graph's own line.
    """
    if visit is None:
        return None  # no checkpoint is kept, or nothing inside that may not be done twice
    place, saver = visit.place, visit.place.saver
    if read_links(saver, place.thread, visit.own, limit=1):
        return None
    if visit.turn is not None:
        before = _find_previous_checkpoint(
            visit, read_links(saver, place.thread, place.namespace, limit=2)
        )
        if before is None or not _had_the_turn(visit, saver.get_tuple(before)):
            return None
    others = _other_tasks(visit, read_namespaces(saver, place.thread))
    begun = _newest_begun(visit, map(saver.get_tuple, others))
    if begun is None:
        return None
    if not visit.forks:
        require_line(_build_place(visit, begun), since="", node=visit.node)
    begun = _read_whole(saver, begun)
    if _has_ended(begun):
        return _came_to(begun)
    saver.put(*_build_put_arguments(config_of(place.thread, visit.own), begun))
    return None


async def ago_on_inside(visit: Visit | None) -> Mapping[str, Any] | None:
    """As `go_on_inside`, for an event loop."""
    if visit is None:
        return None  # no checkpoint is kept, or nothing inside that may not be done twice
    place, saver = visit.place, visit.place.saver
    if await aread_links(saver, place.thread, visit.own, limit=1):
        return None
    if visit.turn is not None:
        newest = await aread_links(saver, place.thread, place.namespace, limit=2)
        before = _find_previous_checkpoint(visit, newest)
        if before is None or not _had_the_turn(visit, await saver.aget_tuple(before)):
            return None
    others = _other_tasks(visit, await aread_namespaces(saver, place.thread))
    begun = _newest_begun(visit, [await saver.aget_tuple(other) for other in others])
    if begun is None:
        return None
    if not visit.forks:
        await arequire_line(_build_place(visit, begun), since="", node=visit.node)
    begun = await _aread_whole(saver, begun)
    if _has_ended(begun):
        return _came_to(begun)
    await saver.aput(*_build_put_arguments(config_of(place.thread, visit.own), begun))
    return None


def _find_previous_checkpoint(visit: Visit, newest: list[CheckpointLink]) -> RunnableConfig | None:
    """The checkpoint before the one that the node runs on."""
    others = (link.id for link in newest if link.id != visit.place.checkpoint)
    own = next(others, None)
    return None if own is None else config_of(visit.place.thread, visit.place.namespace, own)


def _had_the_turn(visit: Visit, before: CheckpointTuple | None) -> bool:
    """Whether the node had the turn before the step that made its task: then it ran already.

    The step that passes the turn on makes the first checkpoint with that turn.
    """
    if before is None:
        return False
    try:
        turn = json.loads(before.checkpoint["channel_values"].get("cursor") or "null")
    except (ValueError, TypeError):
        return False
    return isinstance(turn, dict) and turn.get("seq") == visit.turn


def _other_tasks(visit: Visit, namespaces: Iterable[str]) -> list[RunnableConfig]:
    """The newest checkpoint of each task that ran the node; in no order."""
    around = _list_outer_nodes(visit.own)
    return [
        config_of(visit.place.thread, other)
        for other in namespaces
        if _list_outer_nodes(other) == around
    ]


def _newest_begun(visit: Visit, every: Iterable[CheckpointTuple | None]) -> CheckpointTuple | None:
    """The last checkpoint of this visit under another task."""
    begun = [kept for kept in every if kept is not None and _is_same_visit(visit, kept)]
    newest = max(begun, key=lambda kept: kept.checkpoint["id"], default=None)
    if newest is None or visit.told or _is_rejected(newest):
        return newest
    # This visit cannot be told from the next round of a loop.
    return None if _has_ended(newest) else newest


def _is_same_visit(visit: Visit, kept: CheckpointTuple) -> bool:
    identity = unseal(kept.checkpoint["channel_values"].get("run"))
    return identity is not MISSING and identity.get("scope") == visit.scope


def _has_ended(kept: CheckpointTuple) -> bool:
    values = kept.checkpoint["channel_values"]
    return unseal(values.get("ended")) is not MISSING or _is_rejected(kept)


def _is_rejected(kept: CheckpointTuple) -> bool:
    return bool(kept.checkpoint["channel_values"].get("rejected_at"))


def _read_whole(saver: BaseCheckpointSaver[Any], kept: CheckpointTuple) -> CheckpointTuple:
    """The checkpoint with its lists whole: under another name it has none before it."""
    missing = _list_missing(kept)
    if not missing:
        return kept
    return _complete(kept, saver.get_delta_channel_history(config=kept.config, channels=missing))


async def _aread_whole(saver: BaseCheckpointSaver[Any], kept: CheckpointTuple) -> CheckpointTuple:
    missing = _list_missing(kept)
    if not missing:
        return kept
    history = await saver.aget_delta_channel_history(config=kept.config, channels=missing)
    return _complete(kept, history)


def _list_missing(kept: CheckpointTuple) -> list[str]:
    """State keys that a checkpoint may leave to the checkpoints before it: long lists of items."""
    values = kept.checkpoint["channel_values"]
    written = (key for key in kept.checkpoint["channel_versions"] if key not in values)
    return sorted(key for key in written if not key.startswith(("__", "branch:")))


def _complete(kept: CheckpointTuple, history: Mapping[str, DeltaChannelHistory]) -> CheckpointTuple:
    found = {key: fold_history(one) for key, one in history.items()}
    lists = {key: items for key, items in found.items() if items}
    values = {**kept.checkpoint["channel_values"], **lists}
    return kept._replace(checkpoint={**kept.checkpoint, "channel_values": values})


def _came_to(kept: CheckpointTuple) -> dict[str, Any]:
    """The state in a checkpoint, read through the graph's own channels."""
    found: dict[str, Any] = {}
    for key, stored in kept.checkpoint["channel_values"].items():
        value = unseal(stored) if isinstance(stored, bytes) else read_list(stored) or stored
        if value is not MISSING:
            found[key] = value
    return found


def _build_place(visit: Visit, kept: CheckpointTuple) -> ThreadPlace:
    namespace = kept.config["configurable"]["checkpoint_ns"]
    return visit.place._replace(namespace=namespace, checkpoint=kept.checkpoint["id"])


def _list_outer_nodes(namespace: str) -> list[str]:
    """The outer nodes of a graph, without the tasks that ran them: `outer:4f…|inner:09…`."""
    return [part.rpartition(":")[0] for part in namespace.split("|")]


def _build_put_arguments(config: RunnableConfig, kept: CheckpointTuple) -> tuple[Any, ...]:
    """Arguments of the saver's `put` that store `kept` under `config` too."""
    metadata = cast("CheckpointMetadata", {**kept.metadata, "source": "fork", "parents": {}})
    return config, kept.checkpoint, metadata, kept.checkpoint["channel_versions"]


# ------------------------------------------------------------------ a graph that was cut off


def read_cut(visit: Visit) -> Mapping[str, Any]:
    """What an inner graph came to whose node ended in a rejection, and cut its branches off.

    The engine raises the pauses of those branches instead of taking in what the node wrote.
    """
    kept = visit.place.saver.get_tuple(config_of(visit.place.thread, visit.own))
    return {} if kept is None else _take_in(_read_whole(visit.place.saver, kept))


async def aread_cut(visit: Visit) -> Mapping[str, Any]:
    """As `read_cut`, for an event loop."""
    kept = await visit.place.saver.aget_tuple(config_of(visit.place.thread, visit.own))
    return {} if kept is None else _take_in(await _aread_whole(visit.place.saver, kept))


def _take_in(kept: CheckpointTuple) -> dict[str, Any]:
    """The state in a checkpoint with what its tasks wrote of the end and of the lists that grow."""
    found = _came_to(kept)
    written: dict[str, list[Any]] = {}
    for write in kept.pending_writes or ():
        written.setdefault(write[1], []).append(write)
    for channel in ("messages", "decisions"):
        history = {"seed": found.get(channel, MISSING), "writes": written.get(channel, [])}
        found[channel] = fold_history(history)
    for _, _, value in written.get("rejected_at", [])[:1]:
        found.setdefault("rejected_at", value)
    return found


def read_decided(place: ThreadPlace, own: str) -> list[Any]:
    """The decisions that were taken in an inner graph which has not ended, and in graphs inside it.

    place: of its node.  own: its namespace.
    """
    saver, thread = place.saver, place.thread
    found: list[Any] = []
    for one in _list_inside(read_namespaces(saver, thread), own):
        kept = saver.get_tuple(config_of(thread, one))
        if kept is not None:
            _join(found, _list_decisions(_read_whole(saver, kept)))
    return found


async def aread_decided(place: ThreadPlace, own: str) -> list[Any]:
    """As `read_decided`, for an event loop."""
    saver, thread = place.saver, place.thread
    found: list[Any] = []
    for one in _list_inside(await aread_namespaces(saver, thread), own):
        kept = await saver.aget_tuple(config_of(thread, one))
        if kept is not None:
            _join(found, _list_decisions(await _aread_whole(saver, kept)))
    return found


def _list_inside(namespaces: Iterable[str], own: str) -> list[str]:
    """The namespace and those inside it, from the outermost on."""
    inside = [one for one in namespaces if one == own or one.startswith(f"{own}|")]
    return sorted(inside, key=lambda one: (one.count("|"), one))


def _list_decisions(kept: CheckpointTuple) -> list[Any]:
    return without_seals(_came_to(kept).get("decisions") or [])


def _join(found: list[Any], decisions: list[Any]) -> None:
    """Each decision once: those of a graph that has ended are in the graph around it, too."""
    found += [one for one in decisions if one not in found]

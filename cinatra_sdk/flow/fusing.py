"""Runs nodes that only compute in the superstep of the node before them.

    fetch → choose → write → review        one superstep: fetch, choose and write; then review

A superstep costs far more than what such a node does: the engine plans it, and the database keeps a
checkpoint of it.  Every node stays a node of the graph, with its own record, events and errors: a
node that fails here is left to a superstep of its own, where it fails again, so that the result of
the node before it is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import Command

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import CURSOR, DECISIONS, MESSAGES, node_name
from cinatra_sdk.flow.telling import NodeTelling, find_listener
from cinatra_sdk.flow.updates import CompareOutputs, Completion, make_completion
from cinatra_sdk.governed.growing import read_said
from cinatra_sdk.governed.state import SEAL_KEY, seal, unseal

_GROWING = (MESSAGES, DECISIONS)
"""State keys to which several nodes of one superstep may add."""


@dataclass(frozen=True, slots=True)
class _ComputingNode:
    frame: Frame
    body: NodeBody
    complete: Completion

    def visit(self, state: Mapping[str, Any], runtime: Any) -> dict[str, Any]:
        self.frame.require_steps_left(state)
        update: dict[str, Any] = self.complete(state, self.body.run(state, runtime))
        return update

    async def avisit(self, state: Mapping[str, Any], runtime: Any) -> dict[str, Any]:
        if self.body.arun is None:
            return self.visit(state, runtime)
        self.frame.require_steps_left(state)
        update: dict[str, Any] = self.complete(state, await self.body.arun(state, runtime))
        return update


@dataclass(frozen=True, slots=True)
class ComputingLevel:
    """The nodes of one flow that can run on in another node's superstep."""

    nodes: dict[str, _ComputingNode] = field(default_factory=dict)
    """By their ids."""

    @property
    def waits(self) -> bool:
        """Whether one of them has an asynchronous form."""
        return any(node.body.arun is not None for node in self.nodes.values())

    def add_node(self, frame: Frame, body: NodeBody, compare: CompareOutputs | None) -> None:
        """Take a node in if it only computes."""
        if body.computes:
            self.nodes[frame.id] = _ComputingNode(
                frame, body, make_completion(frame, body, compare)
            )

    def list_reads(self, targets: Iterable[str]) -> list[str]:
        """State keys that nodes read which can run on from these; targets: ids."""
        seen: set[str] = set()
        left = [target for target in targets if target in self.nodes]
        reads: dict[str, None] = {}
        while left:
            own = left.pop()
            if own in seen:
                continue
            seen.add(own)
            node = self.nodes[own]
            reads |= dict.fromkeys((*node.frame.channels(), *node.body.reads))
            left += [target for target in node.frame.routes.values() if target in self.nodes]
        return list(reads)

    def go_on(
        self, frame: Frame, state: Mapping[str, Any], update: dict[str, Any], runtime: Any
    ) -> Command[Any]:
        """Leave a node by its update, through as many nodes as only compute."""
        segment = _Segment(frame, state, update)
        tell = find_listener(runtime)
        while (node := self.nodes.get(segment.following)) is not None:
            telling = None if tell is None else NodeTelling(tell, node.frame, segment.state)
            try:
                update = node.visit(segment.state, runtime)
            except Exception:  # noqa: BLE001 - told in a superstep of its own
                break
            segment.add(node.frame, update, telling)
        return segment.leave()

    async def ago_on(
        self, frame: Frame, state: Mapping[str, Any], update: dict[str, Any], runtime: Any
    ) -> Command[Any]:
        """As `go_on`, for an event loop."""
        segment = _Segment(frame, state, update)
        tell = find_listener(runtime)
        while (node := self.nodes.get(segment.following)) is not None:
            telling = None if tell is None else NodeTelling(tell, node.frame, segment.state)
            try:
                update = await node.avisit(segment.state, runtime)
            except Exception:  # noqa: BLE001 - told in a superstep of its own
                break
            segment.add(node.frame, update, telling)
        return segment.leave()


class StateAfter:
    """The state after nodes that have run without the engine, as its channels would have it."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.added: dict[str, list[Any]] = {}
        """Messages and decisions, each in order."""

    def take(self, frame: Frame, update: dict[str, Any]) -> str:
        """Apply a node's update; the id of the node that has the turn next, empty for none."""
        record = update[frame.channel]
        for key, value in update.items():
            if key in _GROWING:
                self._add(key, value)
            else:
                self._apply(key, value)
        self.state[CURSOR] = {"seq": record["seq"], "next": record["next"]}
        return record["next"] or ""

    def collect(self) -> dict[str, Any]:
        """The state with messages and decisions."""
        return {**self.state, **{key: self.added.get(key, []) for key in _GROWING}}

    def _add(self, key: str, value: Any) -> None:
        more = read_said(value) if key == MESSAGES else unseal(value)
        self.added.setdefault(key, []).extend(more)
        if key in self.state:  # a node after this one reads it
            self.state[key] = [*self.state[key], *more]

    def _apply(self, key: str, value: Any) -> None:
        if type(value) is dict:
            self.state[key] = {name: item for name, item in value.items() if name != SEAL_KEY}
        elif isinstance(value, bytes):
            if key != CURSOR:  # every other sealed key is written once
                self.state.setdefault(key, unseal(value))
        else:
            self.state[key] = value


def join_growing(added: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Messages and decisions as an update of the state."""
    said, decided = added.get(MESSAGES), added.get(DECISIONS)
    messages = {MESSAGES: said} if said else {}
    return {**messages, DECISIONS: seal(decided)} if decided else messages


class _Segment:
    """Nodes that have run in one superstep: the state after them, and their updates, joined."""

    def __init__(self, frame: Frame, state: Mapping[str, Any], update: dict[str, Any]) -> None:
        self._after = StateAfter(dict(state))
        self._update: dict[str, Any] = {}
        self.following = ""
        """Id of the node that has the turn next; empty: none."""
        self._take(frame, update)

    @property
    def state(self) -> dict[str, Any]:
        return self._after.state

    def add(self, frame: Frame, update: dict[str, Any], telling: NodeTelling | None) -> None:
        if telling is not None:
            telling.started()
            telling.finished(frame, update)
        self._take(frame, update)

    def leave(self) -> Command[Any]:
        goto = node_name(self.following) if self.following else ()
        return Command(update={**self._update, **join_growing(self._after.added)}, goto=goto)

    def _take(self, frame: Frame, update: dict[str, Any]) -> None:
        self.following = self._after.take(frame, update)
        self._update |= {key: value for key, value in update.items() if key not in _GROWING}

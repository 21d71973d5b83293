"""Runs nodes that only compute in the superstep of the node before them.

    fetch → choose → write → review        one superstep: fetch, choose and write; then review

A superstep costs far more than the work of such a node: the engine plans the superstep, and the database
stores a checkpoint of it.  Every node stays a node of the graph, with its own record, events and errors.
A node that fails here is left to a superstep of its own, where it fails again, so that the result of the
node before it is stored.

In a run without checkpoints and callbacks, Python functions of this process (tools) join in too, while
the superstep is younger than a twentieth of a second.  A function that has begun is waited for, and the
next one has a superstep of its own.  Such a node does not run again, so its error ends the run at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from time import monotonic
from typing import Any, Final, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from cinatra_sdk.flow.plan.channel_names import CURSOR, DECISIONS, ENDINGS, MESSAGES, node_name
from cinatra_sdk.flow.plan.frame import CompareOutputs, Completion, Frame, NodeBody, make_completion
from cinatra_sdk.flow.visit.reports import NodeTelling, find_listener
from cinatra_sdk.langgraph_internals.nodes import is_traced
from cinatra_sdk.langgraph_internals.task_facts import read_channels
from cinatra_sdk.langgraph_threads.lineage import place_of
from cinatra_sdk.langgraph_threads.list_channels import read_said
from cinatra_sdk.langgraph_threads.state_channels import SEAL_KEY, seal, unseal
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# The state of a flow after nodes that have run without the engine.
#
# `after = StateAfter({"cursor": {"seq": 1, "next": "a"}})`
# after.take(frame_of_a, update_of_a)     "b", which has the turn next; after.state is what it reads


GROWING: Final = (MESSAGES, DECISIONS)
"""State keys to which several nodes of one superstep may add."""


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
            if key in GROWING:
                self._add(key, value)
            else:
                self._apply(key, value)
        self.state[CURSOR] = {"seq": record["seq"], "next": record["next"]}
        return record["next"] or ""

    def fill(self, values: Mapping[str, Any]) -> None:
        """Take in keys that no node has read before; values: before the first node of these ran."""
        for key, value in values.items():
            self.state[key] = [*value, *self.added.get(key, ())] if key in GROWING else value

    def collect(self) -> dict[str, Any]:
        """The state with messages and decisions."""
        return {**self.state, **{key: self.added.get(key, []) for key in GROWING}}

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


_SECONDS: Final = 0.05
"""How old a superstep may be for one more function of this process to join it."""


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


class ActingVisits(Protocol):
    """A node that calls a function of this process: `cinatra_sdk.flow.visit.visit.NodeVisit`."""

    def may_run(self, state: Mapping[str, Any], /) -> bool: ...
    def work(self, state: Mapping[str, Any], config: RunnableConfig, runtime: Any) -> Any: ...
    async def awork(
        self, state: Mapping[str, Any], config: RunnableConfig, runtime: Any
    ) -> Any: ...


@dataclass(frozen=True, slots=True)
class _ActingNode:
    frame: Frame
    visits: ActingVisits
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedSupersteps:
    """The nodes of one flow that can run on in another node's superstep, by their ids."""

    computing: dict[str, _ComputingNode] = field(default_factory=dict)
    acting: dict[str, _ActingNode] = field(default_factory=dict)
    """Those that join in only where nothing is kept."""

    @property
    def waits(self) -> bool:
        """Whether one of them has an asynchronous form."""
        return bool(self.acting) or any(
            node.body.arun is not None for node in self.computing.values()
        )

    def add_computing(self, frame: Frame, body: NodeBody, compare: CompareOutputs | None) -> None:
        """Take in a node that only computes."""
        complete = make_completion(frame, body, compare)
        self.computing[frame.id] = _ComputingNode(frame, body, complete)

    def add_acting(self, frame: Frame, body: NodeBody, visits: ActingVisits) -> None:
        """Take in a node that calls a function of this process."""
        reads = (*frame.channels(), *ENDINGS, *body.reads)
        self.acting[frame.id] = _ActingNode(frame, visits, reads)

    def list_reads(self, targets: Iterable[str]) -> list[str]:
        """State keys that nodes read which can run on from these; targets: ids."""
        seen: set[str] = set()
        left = [target for target in targets if target in self.computing]
        reads: dict[str, None] = {}
        while left:
            own = left.pop()
            if own in seen:
                continue
            seen.add(own)
            node = self.computing[own]
            reads |= dict.fromkeys((*node.frame.channels(), *node.body.reads))
            left += [target for target in node.frame.routes.values() if target in self.computing]
        return list(reads)

    def list_all_reads(self) -> list[str]:
        """State keys that any of the nodes reads."""
        computing = ((*node.frame.channels(), *node.body.reads) for node in self.computing.values())
        acting = (node.reads for node in self.acting.values())
        return list(dict.fromkeys(key for keys in (*computing, *acting) for key in keys))

    def go_on(
        self,
        frame: Frame,
        state: Mapping[str, Any],
        update: dict[str, Any],
        config: RunnableConfig,
        runtime: Any,
    ) -> Command[Any]:
        """Leave a node by its update, through as many nodes as may run on.

        Raises: what a node raises that calls a function of this process.
        """
        segment = _Segment(self, state, config, runtime)
        segment.take(frame, update)
        while True:
            if (node := self.computing.get(segment.following)) is not None:
                telling = segment.begin_telling(node.frame)
                try:
                    update = node.visit(segment.state, runtime)
                except Exception:  # noqa: BLE001 - told in a superstep of its own
                    break
                segment.add(node.frame, update, telling)
            elif (caller := segment.find_caller()) is not None:
                update = caller.visits.work(segment.state, config, runtime)
                segment.take(caller.frame, update)
            else:
                break
        return segment.leave()

    async def ago_on(
        self,
        frame: Frame,
        state: Mapping[str, Any],
        update: dict[str, Any],
        config: RunnableConfig,
        runtime: Any,
    ) -> Command[Any]:
        """As `go_on`, for an event loop."""
        segment = _Segment(self, state, config, runtime)
        segment.take(frame, update)
        while True:
            if (node := self.computing.get(segment.following)) is not None:
                telling = segment.begin_telling(node.frame)
                try:
                    update = await node.avisit(segment.state, runtime)
                except Exception:  # noqa: BLE001 - told in a superstep of its own
                    break
                segment.add(node.frame, update, telling)
            elif (caller := segment.find_caller()) is not None:
                update = await caller.visits.awork(segment.state, config, runtime)
                segment.take(caller.frame, update)
            else:
                break
        return segment.leave()


class _Segment:
    """Nodes that have run in one superstep: the state after them, and their updates, joined."""

    def __init__(
        self,
        shared: SharedSupersteps,
        state: Mapping[str, Any],
        config: RunnableConfig,
        runtime: Any,
    ) -> None:
        self._shared = shared
        self._config, self._runtime = config, runtime
        self._tell = find_listener(runtime)
        self._after = StateAfter(dict(state))
        self._update: dict[str, Any] = {}
        self._until: float | None = None
        """Until when functions of this process join in; None: nobody has asked yet."""
        self.following = ""
        """Id of the node that has the turn next; empty: none."""

    @property
    def state(self) -> dict[str, Any]:
        return self._after.state

    def begin_telling(self, frame: Frame) -> NodeTelling | None:
        return None if self._tell is None else NodeTelling(self._tell, frame, self.state)

    def add(self, frame: Frame, update: dict[str, Any], telling: NodeTelling | None) -> None:
        """Take in a node that computed, and tell of it: where it fails, another superstep does."""
        if telling is not None:
            telling.started()
            telling.finished(frame, update)
        self.take(frame, update)

    def find_caller(self) -> _ActingNode | None:
        """The node that has the turn next, where it is a function that may join in."""
        node = self._shared.acting.get(self.following)
        if node is None:
            return None
        if self._until is None:
            self._until = self._open()
        may_join = monotonic() < self._until and node.visits.may_run(self.state)
        return node if may_join else None

    def _open(self) -> float:
        """Until when functions join in; they may need more of the state than this node has read."""
        if place_of(self._config, self._runtime.execution_info) or is_traced(self._config):
            return 0.0
        reads = self._shared.list_all_reads()
        missing = [key for key in reads if key not in self.state]
        self._after.fill(read_channels(self._config, missing))
        return monotonic() + _SECONDS

    def take(self, frame: Frame, update: dict[str, Any]) -> None:
        self.following = self._after.take(frame, update)
        self._update |= {key: value for key, value in update.items() if key not in GROWING}

    def leave(self) -> Command[Any]:
        goto = node_name(self.following) if self.following else ()
        return Command(update={**self._update, **join_growing(self._after.added)}, goto=goto)

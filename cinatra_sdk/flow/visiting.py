"""One visit of a node: whether it has the turn, what is told of it, and how the run leaves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.runtime import Runtime

from cinatra_sdk.engine.acting import arequire_effects, require_effects
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.engine.tasks import was_sent
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.fusing import ComputingLevel
from cinatra_sdk.flow.names import CURSOR
from cinatra_sdk.flow.telling import NodeTelling
from cinatra_sdk.flow.updates import CompareOutputs, make_completion
from cinatra_sdk.governed.secrets import cut_out
from cinatra_sdk.governed.state import has_ended

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts about the node and the host that the wrapper needs."""

    frame: Frame
    placeholders: tuple[str, ...] = field(default=(), repr=False)
    """Values that the host gave as `env=`: secrets, like the run's credentials."""
    compare: CompareOutputs | None = None
    """For a node of a kind that an installed package adds."""
    level: ComputingLevel | None = None
    """The nodes that can run on in this node's superstep; None: each node has its own."""

    def secrets(self, runtime: Runtime[HostContext]) -> tuple[str, ...]:
        held = context_of(runtime.context).credentials
        return (held.run_token, held.bearer_token, *self.placeholders)


class NodeVisit:
    """The parts of a visit that all forms of a node share."""

    def __init__(self, about: Surroundings, body: NodeBody) -> None:
        self._frame = about.frame
        self._level = about.level
        self._acts = body.acts and body.subgraph is None
        self._chooses = body.chooses
        self._takes_turns = body.takes_turns
        self._complete = make_completion(about.frame, body, about.compare)
        self.may_run = _make_turn_check(about.frame, body)

    def require_effects(self, state: State, runtime: Runtime[HostContext]) -> str:
        frame = self._frame
        since = frame.seen_before(state)
        return require_effects(state, runtime, node=frame.where, effects=frame.effects, since=since)

    async def arequire_effects(self, state: State, runtime: Runtime[HostContext]) -> str:
        frame = self._frame
        since = frame.seen_before(state)
        return await arequire_effects(
            state, runtime, node=frame.where, effects=frame.effects, since=since
        )

    def complete(self, state: State, update: Any, runtime: Runtime[HostContext]) -> Any:
        return _remove_host_tokens(self._complete(state, update), self._acts, runtime)

    def leave(self, state: State, update: Any, runtime: Runtime[HostContext]) -> Any:
        if not self._passes_turn(update):
            return update
        if self._level is not None:
            return self._level.go_on(self._frame, state, update, runtime)
        return self._frame.leave(update) if self._chooses else update

    async def aleave(self, state: State, update: Any, runtime: Runtime[HostContext]) -> Any:
        if self._level is None or not self._passes_turn(update):
            return self.leave(state, update, runtime)
        return await self._level.ago_on(self._frame, state, update, runtime)

    def _passes_turn(self, update: Any) -> bool:
        return type(update) is dict and CURSOR in update

    def tell_start(self, state: State, runtime: Runtime[HostContext]) -> NodeTelling | None:
        tell = context_of(runtime.context).tell
        if tell is None or not (self._takes_turns or self._begins(state)):
            return None
        telling = NodeTelling(tell, self._frame, state)
        telling.started()
        return telling

    def _begins(self, state: State) -> bool:
        """Whether a StartNode has something to do: a further input on its thread changes nothing."""
        cursor = state.get(CURSOR)
        return cursor is None or cursor["next"] == self._frame.id

    def tell_finish(self, telling: NodeTelling | None, update: Any) -> None:
        if telling is not None:
            telling.finished(self._frame, update)


def _make_turn_check(frame: Frame, body: NodeBody) -> Callable[[State], bool]:
    if body.acts or body.subgraph is not None:
        return lambda state: not was_sent() and not has_ended(state) and frame.has_turn(state)
    if body.takes_turns:
        return lambda state: not was_sent() and frame.has_turn(state)
    return lambda _state: not was_sent()


def _remove_host_tokens(update: Any, acts: bool, runtime: Runtime[HostContext]) -> Any:
    """What came from outside, without the host's tokens in it.

    Not without the values of placeholders: they may be any word, also one of a node or a channel.
    They are cut out of the answer itself, before it becomes an update.
    """
    if not acts:
        return update
    held = context_of(runtime.context).credentials
    tokens = (held.run_token, held.bearer_token)
    return cut_out(update, tokens)

"""A graph that refuses threads which another graph began, before anything is written.

    graph = on_own_threads(flow.graph(), pin=pin_of(flow.digest, ()))

Every node itself compares the sealed identity of the run (`tasks.require_own_graph`), so that a
foreign graph does nothing on a thread.  But by then the thread holds the foreign input, or the
answer to a gate: a gate that waits there is no longer shown and must ask again.  On a graph server
any client can do this to any thread; this check comes first and prevents it.

What this process then writes sorts after the thread's newest checkpoint, whatever its clock says.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from cinatra_sdk.engine.id_clock import move_ids_beyond
from cinatra_sdk.engine.tasks import shape_of
from cinatra_sdk.errors import FlowChanged
from cinatra_sdk.governed.state import MISSING, unseal

_G = TypeVar("_G", bound=CompiledStateGraph[Any, Any, Any, Any])
_SAVER: Final = "__pregel_checkpointer"
_ID: Final = re.compile("[0-9a-f]{32}")
"""Of a pause, as the engine makes it."""
_NOBODY: Final = "0" * 32
"""No pause has this id."""


def on_own_threads(graph: _G, *, pin: str = "") -> _G:
    """`graph`, which refuses a thread of another graph with `FlowChanged`; reading stays free.

    pin:  the `run["pin"]` of the compiled flow's threads; empty: the graphs' shapes are compared.
    """
    own: _G = _OnOwnThreads(pin=pin, **graph.copy().__dict__)  # type: ignore[assignment]  # the class mixes in the graph's own
    return own


class _OnOwnThreads(CompiledStateGraph[Any, Any, Any, Any]):
    def __init__(self, *, pin: str, **graph: Any) -> None:
        super().__init__(**graph)
        self.pin = pin

    def stream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> Iterator[Any]:
        self._require_own(config)
        given, asked = input, self._find_place(input, config)
        if asked is not None:
            given = _answer_by_id(input, self.get_state(asked))
        yield from super().stream(given, config, **more)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        await self._arequire_own(config)
        given, asked = input, self._find_place(input, config)
        if asked is not None:
            given = _answer_by_id(input, await self.aget_state(asked))
        async for part in super().astream(given, config, **more):
            yield part

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        self._require_own(config)
        return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        await self._arequire_own(config)
        return await super().abulk_update_state(config, supersteps)

    def _require_own(self, config: RunnableConfig | None) -> None:
        saver, thread = self._find_saver_and_thread(config)
        if saver is not None and thread is not None:
            self._refuse_other_graph(saver.get_tuple(thread))

    async def _arequire_own(self, config: RunnableConfig | None) -> None:
        saver, thread = self._find_saver_and_thread(config)
        if saver is not None and thread is not None:
            self._refuse_other_graph(await saver.aget_tuple(thread))

    def _find_saver_and_thread(
        self, config: RunnableConfig | None
    ) -> tuple[BaseCheckpointSaver[Any] | None, RunnableConfig | None]:
        """The saver, and the newest checkpoint of the thread, even if a client names an older
        one.
        """
        configurable = {**(self.config or {}).get("configurable", {})}
        configurable |= (config or {}).get("configurable", {})
        saver = configurable.get(_SAVER) or self.checkpointer
        thread = configurable.get("thread_id")
        if thread is None or not isinstance(saver, BaseCheckpointSaver):
            return None, None
        return saver, {"configurable": {"thread_id": str(thread), "checkpoint_ns": ""}}

    def _find_place(self, given: Any, config: RunnableConfig | None) -> RunnableConfig | None:
        """The place of the thread at which an answer that names no pause is given; None for all else.

        A namespace that a client names is left out, as the engine does.
        """
        saver, thread = self._find_saver_and_thread(config)
        if saver is None or thread is None or not _names_no_pause(given):
            return None
        named = {**(config or {}).get("configurable", {}), **thread["configurable"]}
        kept = ("thread_id", "checkpoint_ns", "checkpoint_id", _SAVER)
        return {"configurable": {key: named[key] for key in kept if key in named}}

    def _refuse_other_graph(self, newest: CheckpointTuple | None) -> None:
        if newest is not None:
            move_ids_beyond(newest.checkpoint["id"])  # too far ahead: its nodes refuse to act
        held = newest.checkpoint["channel_values"].get("run", MISSING) if newest else MISSING
        identity = MISSING if held is MISSING else unseal(held)
        if not isinstance(identity, dict):
            return  # a new thread, or a foreign one: the nodes decide
        expected, found = (
            (self.pin, identity.get("pin"))
            if self.pin
            else (shape_of(self.channels), identity.get("graph"))
        )
        if found != expected:
            raise FlowChanged(
                f"the thread holds a run that another graph began, or another version of "
                f"'{self.name}'; nothing was written",
                hint="go on with the graph that began it, or start a new thread",
            )


def _names_no_pause(given: Any) -> bool:
    if not isinstance(given, Command) or given.resume is None:
        return False
    by_id = isinstance(given.resume, dict) and all(map(_ID.fullmatch, map(str, given.resume)))
    return not by_id


def _answer_by_id(given: Command[Any], kept: StateSnapshot) -> Command[Any]:
    """The same answer, for the pause that waits now and for no other.

    The engine keeps an answer without an id at the outermost checkpoint.  A node with several gates
    inside stands at that checkpoint until it has ended, so the engine would give the same answer to
    its next gate, at which nobody has looked.
    """
    waiting = {interrupt.id for interrupt in kept.interrupts}
    if len(waiting) > 1:
        return given  # the engine refuses it, and keeps nothing
    return replace(given, resume={next(iter(waiting), _NOBODY): given.resume})

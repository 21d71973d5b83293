"""One graph per thread: a graph refuses a thread that another graph began, before it writes.

    graph = on_own_threads(flow.graph(), pin=pin_of(flow.digest, ()))

Every node compares the sealed identity of the run anyway (`require_own_graph` in `tasks.py`), so a foreign
graph does nothing on a thread.  But by then the thread holds the foreign input, or the answer to a gate: a
gate that waits there is no longer shown and must ask again.  On a graph server any client can do this to
any thread; this check comes first and prevents it.

Checkpoints that this process then writes sort after the newest one of the thread, whatever its clock says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph.state import CompiledStateGraph

from cinatra_sdk.engine.graph_input import AnswersById
from cinatra_sdk.engine.state_channels import unseal
from cinatra_sdk.engine.tasks import shape_of
from cinatra_sdk.errors import FlowChanged
from cinatra_sdk.langgraph_internals.channels import MISSING
from cinatra_sdk.langgraph_internals.checkpoint_ids import move_ids_beyond

_G = TypeVar("_G", bound=CompiledStateGraph[Any, Any, Any, Any])


def on_own_threads(graph: _G, *, pin: str = "") -> _G:
    """`graph`, which refuses a thread of another graph with `FlowChanged`; reading stays free.

    pin:  the `run["pin"]` of the compiled flow's threads; empty: the graphs' shapes are compared.
    """
    own: _G = _OnOwnThreads(pin=pin, **graph.copy().__dict__)  # type: ignore[assignment]  # the class mixes in the graph's own
    return own


class _OnOwnThreads(AnswersById):
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
        yield from super().stream(input, config, **more)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        await self._arequire_own(config)
        async for part in super().astream(input, config, **more):
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

"""A graph that is drawn as another graph with the same nodes.

    drawn_as(fused, lambda: plain)

Nodes that run others in their own superstep name the next node themselves, so that the engine knows
no edges between them.  The picture comes from the same flow with a superstep for each node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph

from cinatra_sdk.engine.answering import AnswersById

AnyGraph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
_G = TypeVar("_G", bound=AnyGraph)


def drawn_as(graph: _G, picture: Callable[[], AnyGraph]) -> _G:
    """`graph`, whose pictures are those of the graph that `picture` makes."""
    drawn: _G = _DrawnAs(picture=picture, **graph.copy().__dict__)  # type: ignore[assignment]  # the class mixes in the graph's own
    return drawn


class _DrawnAs(AnswersById):
    def __init__(self, *, picture: Callable[[], AnyGraph], **graph: Any) -> None:
        super().__init__(**graph)
        self.picture = picture

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        return self.picture().get_graph(config, xray=xray)

    async def aget_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Graph:
        return await self.picture().aget_graph(config, xray=xray)

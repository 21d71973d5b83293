"""The function that the graph runs for a node: nothing without the turn, then on to the next node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import AsyncNodeFunction, NodeBody, NodeFunction
from cinatra_sdk.flow.visiting import NodeVisit, Surroundings

State = Mapping[str, Any]


def step(about: Surroundings, body: NodeBody) -> NodeFunction:
    """The node's function within its surroundings."""
    visit, subgraph = NodeVisit(about, body), body.subgraph

    def work(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        _ = subgraph  # named here: that is how the engine and Studio find it
        if not visit.may_run(state):
            return {}
        return visit.leave(state, visit.work(state, config, runtime), config, runtime)

    return work


def async_step(about: Surroundings, body: NodeBody) -> AsyncNodeFunction | None:
    """As `step`; None where neither the node nor any node that can run on waits."""
    if body.arun is None and not (about.shared and about.shared.waits):
        return None
    visit = NodeVisit(about, body)

    async def work(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        if not visit.may_run(state):
            return {}
        return await visit.aleave(state, await visit.awork(state, config, runtime), config, runtime)

    return work

"""Wraps the function of a node that runs a graph inside.

As `cinatra_sdk.flow.step`, but its errors come from the nodes inside, which have cleaned them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import AsyncNodeFunction, NodeBody, NodeFunction
from cinatra_sdk.flow.visiting import NodeVisit, Surroundings

State = Mapping[str, Any]


def step_around(about: Surroundings, body: NodeBody) -> NodeFunction:
    """The node's function, only in its turn."""
    visit = NodeVisit(about, body)
    run, subgraph = body.run, body.subgraph

    def work(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        assert subgraph is not None  # named here: that is how the engine and Studio find it
        if not visit.may_run(state):
            return {}
        telling = visit.tell_start(state, runtime)
        try:
            update = run(state, config, runtime)
        except BaseException as error:
            if telling is not None:
                telling.stopped(error)  # clean already: it comes from nodes inside, or is ours
            raise
        visit.tell_finish(telling, update)
        return visit.leave(state, update, runtime)

    return work


def async_step_around(about: Surroundings, body: NodeBody) -> AsyncNodeFunction | None:
    """As `step_around`."""
    visit = NodeVisit(about, body)
    arun, subgraph = body.arun, body.subgraph
    if arun is None:
        return None

    async def work(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        assert subgraph is not None
        if not visit.may_run(state):
            return {}
        telling = visit.tell_start(state, runtime)
        try:
            update = await arun(state, config, runtime)
        except BaseException as error:
            if telling is not None:
                telling.stopped(error)
            raise
        visit.tell_finish(telling, update)
        return await visit.aleave(state, update, runtime)

    return work

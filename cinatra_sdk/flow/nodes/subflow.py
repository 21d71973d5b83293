"""A node that runs one flow, and leaves by the branch of the flow's end, if it has that branch.

The function around the flow only maps values: the engine runs it again when the run is resumed, and
the inner flow goes on from its own checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.inner import (
    READS,
    FlowInside,
    InnerEntry,
    enter_with_own_inputs,
    join_talk,
    leave_rejected,
    own_namespace,
)
from cinatra_sdk.flow.insides import make_inside
from cinatra_sdk.flow.plan import FlowPlan, NodeWork
from cinatra_sdk.flow.site import NodeSite

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subflow(NodeWork):
    """Runs a flow with the node's inputs, and leaves by the branch of its end."""

    kind: ClassVar[str] = "FlowNode"
    flow: FlowPlan

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    def make_body(self, site: NodeSite) -> NodeBody:
        frame = site.frame
        return make_subflow(frame, make_inside(site, self.flow, frame.path, as_graph=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(NodeWork):
    """Lets an agent work, which is a flow of its model, its calls and its tools; or a flow in the
    place of an agent.
    """

    kind: ClassVar[str] = "AgentNode"
    flow: FlowPlan
    alone: bool = False
    """Whether it has a conversation of its own."""

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    def make_body(self, site: NodeSite) -> NodeBody:
        frame = site.frame
        inner = make_inside(site, self.flow, frame.path, as_graph=True, alone=self.alone)
        return make_subflow(frame, inner)


def make_subflow(frame: Frame, inner: FlowInside) -> NodeBody:
    """The body of a node that runs `inner` with its own inputs."""

    def leave(entry: InnerEntry, result: State) -> Any:
        ended = inner.read(result, entry.scope)
        if ended.rejected_at:
            return leave_rejected(frame, entry.state, [ended])
        # An AgentNode has no branches of a flow in the place of its agent.
        branch = ended.branch if ended.branch in frame.branches else "next"
        return frame.finish(entry.state, ended.outputs, branch=branch, more=join_talk([ended]))

    return make_flow_body(frame, inner, leave)


def make_flow_body(
    frame: Frame, inner: FlowInside, leave: Callable[[InnerEntry, State], Any]
) -> NodeBody:
    """The body of a node that runs `inner` once at a visit; leave: the update after the flow."""

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry = enter_with_own_inputs(frame, state)
        return leave(entry, inner.run(entry, config, runtime, own_namespace(runtime)))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry = enter_with_own_inputs(frame, state)
        return leave(entry, await inner.arun(entry, config, runtime, own_namespace(runtime)))

    return NodeBody(
        run=run,
        arun=arun,
        reads=READS,
        acts=inner.acts,
        contains=True,
        subgraph=inner.graph,
        chooses=True,
    )

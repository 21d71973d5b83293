"""Nodes that run one flow: once, only after an approval, or again until the flow succeeds.

A node leaves by the branch of the flow's end, if the node has that branch.  The function around the
flow only maps values: the engine runs the function again when the run is resumed, and the inner flow
goes on from its own checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from cinatra_sdk.errors import ShownDiffers
from cinatra_sdk.flow.branches.inner_flow import (
    READS,
    FlowInside,
    InnerEntry,
    enter_with_own_inputs,
    join_talk,
    leave_rejected,
    make_inside,
    own_namespace,
)
from cinatra_sdk.flow.plan.channel_names import CURSOR
from cinatra_sdk.flow.plan.frame import MISSING, Frame, NodeBody, effect_of
from cinatra_sdk.flow.plan.plan import FlowPlan, NodeSite, NodeWork
from cinatra_sdk.flow.visit.confirmation import make_confirmed
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedAgent(Agent):
    """An agent that works only after a person has approved it."""

    @property
    def asks_person(self) -> bool:
        return True

    def make_body(self, site: NodeSite) -> NodeBody:
        frame = site.frame
        inner = make_inside(site, self.flow, frame.path, as_graph=True, alone=self.alone)
        return make_approved(frame, inner, agent=self.flow.name, name=site.plan.name)


def make_approved(frame: Frame, inner: FlowInside, *, agent: str, name: str) -> NodeBody:
    """agent: what the flow is called for the person; name: of the node."""
    body = make_subflow(frame, inner)

    def describe(state: State) -> Effect:
        held = context_of(get_runtime(HostContext).context).credentials
        given = {plan.title: frame.look_up(plan, state) for plan in frame.inputs}
        return effect_of(
            frame,
            state,
            capability=agent,
            arguments={title: value for title, value in given.items() if value is not MISSING},
            secrets=(held.run_token, held.bearer_token),
        )

    def require_shown(state: State) -> None:
        if describe(state).request_sha256 != frame.shown(state):
            raise ShownDiffers(
                f"node '{frame.where}': a person approved other inputs",
                node=frame.id,
                path=frame.where,
            )

    def run(state: State, config: Any, runtime: Any) -> Any:
        require_shown(state)
        return body.run(state, config, runtime)

    async def arun(state: State, config: Any, runtime: Any) -> Any:
        require_shown(state)
        assert body.arun is not None  # made by `make_subflow`
        return await body.arun(state, config, runtime)

    return make_confirmed(frame, replace(body, run=run, arun=arun), name=name, effect=describe)


_TRIED: Final = "tried"
"""Of a record by which a node passes the turn to itself: how often its flow has run."""


FAILURE: Final = "failure"
COUNT: Final = "retry_step_num_retries"
SUCCEEDED: Final = "retry_step_success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(NodeWork):
    """Runs a flow again until its output `success` says so, at most `trials` times."""

    kind: ClassVar[str] = "PluginRetryNode"
    flow: FlowPlan
    success: str
    trials: int = 5

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    @property
    def repeats(self) -> bool:
        return True

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_retried(
            site.frame,
            make_inside(site, self.flow, site.frame.path, as_graph=False),
            success=self.success,
            trials=self.trials,
            failed_branch=FAILURE,
            count=COUNT,
            succeeded=SUCCEEDED,
        )


def make_retried(
    frame: Frame,
    inner: FlowInside,
    *,
    success: str,
    trials: int,
    failed_branch: str,
    count: str,
    succeeded: str,
) -> NodeBody:
    """success: the output of the flow that says whether it succeeded.  trials: runs, at most.
    failed_branch: the way out after the last of them.
    count, succeeded: the outputs for how often it ran, and whether it succeeded.
    """

    def leave(entry: InnerEntry, result: State) -> Any:
        state, ended = entry.state, inner.read(result, entry.scope)
        if ended.rejected_at:
            return leave_rejected(frame, state, [ended])
        tried, more = _count_tries(frame, state) + 1, join_talk([ended])
        outputs = {title: value for title, value in ended.outputs.items() if title != success}
        is_success = bool(ended.outputs[success])
        if not is_success and tried < trials:
            return frame.go_on(state, {_TRIED: tried}, more)
        outputs |= {count: tried, succeeded: is_success}
        branch = ended.branch if is_success else failed_branch
        return frame.finish(state, outputs, branch=branch, more=more)

    return make_flow_body(frame, inner, leave)


def _count_tries(frame: Frame, state: State) -> int:
    record = state.get(frame.channel)
    if record is None or record["next"] != frame.id or record["seq"] != state[CURSOR]["seq"]:
        return 0
    return int(record.get(_TRIED, 0))

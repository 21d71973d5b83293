"""A node that runs several flows beside each other, and goes on when all have ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.container import Round, Rounds, arun_rounds, run_rounds
from cinatra_sdk.flow.frame import MISSING, Frame
from cinatra_sdk.flow.inner import (
    READS,
    FlowInside,
    InnerEntry,
    join_talk,
    leave_rejected,
    scope_inside,
)
from cinatra_sdk.flow.insides import make_inside
from cinatra_sdk.flow.plan import FlowPlan, NodeWork, open_plans
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.gates.gate import label_item

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelFlows(NodeWork):
    """Runs flows at the same time, each with the inputs of the node that it has itself."""

    kind: ClassVar[str] = "ParallelFlowNode"
    flows: tuple[FlowPlan, ...]

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return self.flows

    def make_body(self, site: NodeSite) -> NodeBody:
        flows = [
            (
                make_inside(site, flow, around, as_graph=False),
                tuple(port.title for port in flow.inputs),
            )
            for around, flow in open_plans(site.plan, site.frame.path)
        ]
        return make_parallel_flows(site.frame, flows, at_once=site.wiring.max_parallel)


def make_parallel_flows(
    frame: Frame, flows: Sequence[tuple[FlowInside, Sequence[str]]], *, at_once: int | None
) -> NodeBody:
    """flows: each with the titles of the inputs that it takes.  at_once: None: the engine's bound.

    Two flows never have an output of one title.
    """

    def list_rounds(state: State) -> list[Round]:
        given = {plan.title: frame.look_up(plan, state) for plan in frame.inputs}
        visit = frame.visit(state)
        rounds = []
        for place, (inner, titles) in enumerate(flows):
            own = label_item(frame.id, visit, place)
            inputs = {title: given[title] for title in titles if given.get(title) is not MISSING}
            entry = InnerEntry(state=state, inputs=inputs, scope=scope_inside(state, own))
            rounds.append(Round(inner=inner, entry=entry, label=own))
        return rounds

    def leave(state: State, ended: Rounds) -> Any:
        if ended.rejected:
            return leave_rejected(frame, state, ended.results)
        outputs = {title: value for one in ended.results for title, value in one.outputs.items()}
        return frame.finish(state, outputs, more=join_talk(ended.results))

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        return leave(state, run_rounds(list_rounds(state), config, runtime, at_once=at_once))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        ended = await arun_rounds(list_rounds(state), config, runtime, at_once=at_once)
        return leave(state, ended)

    acts = any(inner.acts for inner, _titles in flows)
    return NodeBody(run=run, arun=arun, reads=READS, acts=acts, contains=True, chooses=True)

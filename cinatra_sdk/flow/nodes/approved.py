"""A node whose flow runs only after a person has approved it, with the inputs that were shown.

asks  {"call": "Helper", "arguments": {"topic": "bees"}}
approved, denied, rejected   ->   as a call that is confirmed (confirmed.py)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langgraph.runtime import get_runtime

from cinatra_sdk.effects import Effect
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.errors import ShownDiffers
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.effects import effect_of
from cinatra_sdk.flow.frame import MISSING, Frame
from cinatra_sdk.flow.inner import FlowInside
from cinatra_sdk.flow.insides import make_inside
from cinatra_sdk.flow.nodes.confirmed import make_confirmed
from cinatra_sdk.flow.nodes.subflow import Agent, make_subflow
from cinatra_sdk.flow.site import NodeSite

State = Mapping[str, Any]


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

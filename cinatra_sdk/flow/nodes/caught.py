"""A node that runs one flow, and goes another way where that flow fails.

{"x": 1}  ->  the flow's outputs, "caught_exception_info": null, by the branch of the flow's end
          ->  or the defaults, "caught_exception_info": "node 'call' failed (node_failed)",
                 by "caught_exception_branch"

Only a failure of a node is caught.  A pause, a rejection, a stop, and whatever says that the run must
not go on by itself (a call of which nobody knows whether it happened, a bound or a refusal of the
host, a fork) goes out of the node as out of any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.engine.lineage import place_of
from cinatra_sdk.engine.reentry import aread_decided, read_decided
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.failures import FAILURES, describe_failure, is_failure
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.inner import (
    READS,
    FlowInside,
    InnerEntry,
    InnerResult,
    enter_with_own_inputs,
    join_talk,
    leave_rejected,
    own_namespace,
)
from cinatra_sdk.flow.insides import make_inside
from cinatra_sdk.flow.plan import FlowPlan, NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.values.json_text import Json

State = Mapping[str, Any]
CAUGHT_BRANCH: Final = "caught_exception_branch"
CAUGHT_INFO: Final = "caught_exception_info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catch(NodeWork):
    """Runs a flow; where it fails, the outputs have their defaults, `caught_exception_info` says why,
    and the node leaves by `caught_exception_branch`.
    """

    kind: ClassVar[str] = "CatchExceptionNode"
    flow: FlowPlan
    tells_message: bool = False
    """Whether the info has the text of the error, not only its node and kind."""

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    def make_body(self, site: NodeSite) -> NodeBody:
        ports = site.plan.outputs
        return make_caught(
            site.frame,
            make_inside(site, self.flow, site.frame.path, as_graph=False),
            branch=CAUGHT_BRANCH,
            info=CAUGHT_INFO,
            defaults={port.title: port.default for port in ports if port.default is not None},
            tells_message=self.tells_message,
        )


def make_caught(
    frame: Frame,
    inner: FlowInside,
    *,
    branch: str,
    info: str,
    defaults: Mapping[str, Json],
    tells_message: bool,
) -> NodeBody:
    """branch: the way out where the flow fails.  info: the output that describes the error.
    defaults: output → its value where the flow fails.  tells_message: whether the info has the text
    of the error, without the run's credentials; else only the node and the kind of error.
    """

    def leave(entry: InnerEntry, result: State) -> Any:
        ended = inner.read(result, entry.scope)
        if ended.rejected_at:
            return leave_rejected(frame, entry.state, [ended])
        outputs = {**ended.outputs, info: None}
        return frame.finish(entry.state, outputs, branch=ended.branch, more=join_talk([ended]))

    def go_on(entry: InnerEntry, error: Exception, decided: list[Any]) -> Any:
        outputs = {title: default.value() for title, default in defaults.items()}
        outputs[info] = str(error) if tells_message else describe_failure(error)
        more = join_talk([InnerResult(decisions=tuple(decided))])
        return frame.finish(entry.state, outputs, branch=branch, more=more)

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry, own = enter_with_own_inputs(frame, state), own_namespace(runtime)
        try:
            return leave(entry, inner.run(entry, config, runtime, own))
        except FAILURES as error:
            if not is_failure(error):
                raise
            place = place_of(config, runtime.execution_info) if inner.asks else None
            return go_on(entry, error, [] if place is None else read_decided(place, own))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry, own = enter_with_own_inputs(frame, state), own_namespace(runtime)
        try:
            return leave(entry, await inner.arun(entry, config, runtime, own))
        except FAILURES as error:
            if not is_failure(error):
                raise
            place = place_of(config, runtime.execution_info) if inner.asks else None
            return go_on(entry, error, [] if place is None else await aread_decided(place, own))

    return NodeBody(
        run=run,
        arun=arun,
        reads=READS,
        acts=inner.acts,
        contains=True,
        subgraph=inner.graph,
        chooses=True,
    )

"""Nodes around a failure: a flow whose failure has a way out of its own, and a failure as a text.

{"x": 1}  ->  the flow's outputs, "caught_exception_info": null, by the branch of the flow's end
          ->  or the defaults, "caught_exception_info": "node 'call' failed (node_failed)",
                 by "caught_exception_branch"

Only the failure of a node is caught.  A pause, a rejection and a stop leave the node as they leave any
other, and so does each error that ends the run for a reason of the host: a call that may have happened,
a bound, a refusal, a fork.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Final

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.data.author_json import Json, JsonValue
from cinatra_sdk.flow.branches.inner_flow import (
    READS,
    FlowInside,
    InnerEntry,
    InnerResult,
    enter_with_own_inputs,
    join_talk,
    leave_rejected,
    make_inside,
    own_namespace,
)
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import FlowPlan, NodeSite, NodeWork
from cinatra_sdk.flow.visit.reports import FAILURES, describe_failure, is_failure
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.lineage import place_of
from cinatra_sdk.langgraph_threads.reentry import aread_decided, read_decided
from cinatra_sdk.light_imports.records import dataclass

State = Mapping[str, Any]
CAUGHT_BRANCH: Final = "caught_exception_branch"
CAUGHT_INFO: Final = "caught_exception_info"
NAMED_DEFAULT_BRANCH: Final = "default_exception_branch"
NAMED_NAME: Final = "exception_name"
NAMED_PAYLOAD: Final = "exception_payload_name"


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
        return _make_body(site, self.flow, _Exit(
            branch=CAUGHT_BRANCH, info=CAUGHT_INFO, tells_message=self.tells_message
        ))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchNamed(NodeWork):
    """Runs a flow, and leaves by a branch for the exception that one of its tools raises."""

    kind: ClassVar[str] = "PluginCatchExceptionNode"
    flow: FlowPlan
    branches: Mapping[str, str] = field(default_factory=dict)
    """Class of the exception → branch."""
    catches_all: bool = False

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    def make_body(self, site: NodeSite) -> NodeBody:
        return _make_body(site, self.flow, _Exit(
            branch=NAMED_DEFAULT_BRANCH if self.catches_all else "",
            info=NAMED_PAYLOAD, tells_message=True, name=NAMED_NAME, by_name=self.branches,
        ))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exit:
    """The way out of a node whose flow fails, and what its outputs say."""

    branch: str
    """Empty: only exceptions of `by_name` are caught."""
    info: str
    """The output that describes the error."""
    tells_message: bool
    """Whether the info has the text of the error, without the run's credentials; else only the node and
    the kind of error.
    """
    name: str = ""
    """The output with the class of the exception that a tool raised, else the kind of error."""
    by_name: Mapping[str, str] = field(default_factory=dict)
    """Such a class → another way out."""


def _make_body(site: NodeSite, flow: FlowPlan, way: _Exit) -> NodeBody:
    frame, ports = site.frame, site.plan.outputs
    inner = make_inside(site, flow, frame.path, as_graph=False)
    defaults = {port.title: port.default for port in ports if port.default is not None}
    caught = _Caught(frame=frame, inner=inner, exit=way, defaults=defaults)

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry, own = enter_with_own_inputs(frame, state), own_namespace(runtime)
        try:
            return caught.leave(entry, inner.run(entry, config, runtime, own))
        except FAILURES as error:
            if not caught.find_way(error):
                raise
            place = place_of(config, runtime.execution_info) if inner.asks else None
            return caught.go_on(entry, error, [] if place is None else read_decided(place, own))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry, own = enter_with_own_inputs(frame, state), own_namespace(runtime)
        try:
            return caught.leave(entry, await inner.arun(entry, config, runtime, own))
        except FAILURES as error:
            if not caught.find_way(error):
                raise
            place = place_of(config, runtime.execution_info) if inner.asks else None
            return caught.go_on(
                entry, error, [] if place is None else await aread_decided(place, own)
            )

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
class _Caught:
    """How one node leaves, by what its flow came to."""

    frame: Frame
    inner: FlowInside
    exit: _Exit
    defaults: Mapping[str, Json]
    """Output → its value where the flow fails."""

    def leave(self, entry: InnerEntry, result: State) -> Any:
        ended = self.inner.read(result, entry.scope)
        if ended.rejected_at:
            return leave_rejected(self.frame, entry.state, [ended])
        nothing = {
            title: self._read_default(title) for title in (self.exit.info, self.exit.name) if title
        }
        outputs, more = {**ended.outputs, **nothing}, join_talk([ended])
        return self.frame.finish(entry.state, outputs, branch=ended.branch, more=more)

    def find_way(self, error: Exception) -> str:
        """The way out after an error; empty: it is not caught."""
        if not is_failure(error):
            return ""
        return self.exit.by_name.get(_name_error(error), self.exit.branch)

    def go_on(self, entry: InnerEntry, error: Exception, decided: list[Any]) -> Any:
        outputs = {title: default.value() for title, default in self.defaults.items()}
        told = str(error) if self.exit.tells_message else describe_failure(error)
        outputs[self.exit.info] = told
        if self.exit.name:
            outputs[self.exit.name] = _name_error(error)
        more = join_talk([InnerResult(decisions=tuple(decided))])
        return self.frame.finish(entry.state, outputs, branch=self.find_way(error), more=more)

    def _read_default(self, title: str) -> JsonValue:
        return self.defaults[title].value() if title in self.defaults else None


def _name_error(error: Exception) -> str:
    return str(getattr(error, "raised", "") or getattr(error, "code", "") or "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TellsErrors(NodeWork):
    """What a node does, but that its failure is the text of its one output."""

    work: NodeWork

    @property
    def kind(self) -> str:  # type: ignore[override]  # that of the node
        return self.work.kind

    @property
    def acts(self) -> bool:  # type: ignore[override]  # as the node does
        return self.work.acts

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return self.work.subflows

    @property
    def asks(self) -> bool:
        return self.work.asks

    @property
    def asks_person(self) -> bool:
        return self.work.asks_person

    def make_body(self, site: NodeSite) -> NodeBody:
        body = self.work.make_body(site)
        return make_telling(site.frame, body, output=site.plan.outputs[0].title)


def make_telling(frame: Frame, body: NodeBody, *, output: str) -> NodeBody:
    """`body`, whose failures are told; output: the one output of the node."""

    def tell(state: State, error: Exception) -> Any:
        if not is_failure(error):
            raise error
        return frame.finish(state, {output: str(error)})

    def run(state: State, runtime: object) -> Any:
        try:
            return body.run(state, runtime)
        except FAILURES as error:
            return tell(state, error)

    async def arun(state: State, runtime: object) -> Any:
        try:
            return (
                body.run(state, runtime) if body.arun is None else await body.arun(state, runtime)
            )
        except FAILURES as error:
            return tell(state, error)

    return replace(body, run=run, arun=arun)

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
from typing import Any, Final

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
from cinatra_sdk.values.json_text import Json

State = Mapping[str, Any]


_NOBODY: Final[Mapping[str, str]] = {}


def _name_error(error: Exception) -> str:
    return str(getattr(error, "raised", "") or getattr(error, "code", "") or "failed")


def make_caught(
    frame: Frame,
    inner: FlowInside,
    *,
    branch: str,
    info: str,
    defaults: Mapping[str, Json],
    tells_message: bool,
    name: str = "",
    by_name: Mapping[str, str] = _NOBODY,
) -> NodeBody:
    """branch: the way out where the flow fails; empty: only exceptions of `by_name` are caught.
    info: the output that describes the error.
    defaults: output → its value where the flow fails.  tells_message: whether the info has the text
    of the error, without the run's credentials; else only the node and the kind of error.
    name: the output with the class of the exception that a tool raised, else the kind of error.
    by_name: such a class → another way out.
    """
    nothing = {info: None, **({name: None} if name else {})}
    nothing |= {title: defaults[title].value() for title in nothing if title in defaults}

    def leave(entry: InnerEntry, result: State) -> Any:
        ended = inner.read(result, entry.scope)
        if ended.rejected_at:
            return leave_rejected(frame, entry.state, [ended])
        outputs = {**ended.outputs, **nothing}
        return frame.finish(entry.state, outputs, branch=ended.branch, more=join_talk([ended]))

    def find_way(error: Exception) -> str:
        """The way out after an error; empty: it is not caught."""
        return by_name.get(_name_error(error), branch) if is_failure(error) else ""

    def go_on(entry: InnerEntry, error: Exception, decided: list[Any]) -> Any:
        outputs = {title: default.value() for title, default in defaults.items()}
        outputs[info] = str(error) if tells_message else describe_failure(error)
        if name:
            outputs[name] = _name_error(error)
        more = join_talk([InnerResult(decisions=tuple(decided))])
        return frame.finish(entry.state, outputs, branch=find_way(error), more=more)

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry, own = enter_with_own_inputs(frame, state), own_namespace(runtime)
        try:
            return leave(entry, inner.run(entry, config, runtime, own))
        except FAILURES as error:
            if not find_way(error):
                raise
            place = place_of(config, runtime.execution_info) if inner.asks else None
            return go_on(entry, error, [] if place is None else read_decided(place, own))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        entry, own = enter_with_own_inputs(frame, state), own_namespace(runtime)
        try:
            return leave(entry, await inner.arun(entry, config, runtime, own))
        except FAILURES as error:
            if not find_way(error):
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

"""A node that runs one flow again until the flow says that it succeeded.

    {"ok": false}, {"ok": true, "text": "…"}   ->  {"text": "…", "tries": 2, "succeeded": true}
    {"ok": false} at the last try              ->  the same by the branch of a failure

Each try is a visit of the node: it passes the turn to itself in between, so that what was done, said
and decided in a try is kept before the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.inner import (
    FlowInside,
    InnerEntry,
    join_talk,
    leave_rejected,
)
from cinatra_sdk.flow.insides import make_inside
from cinatra_sdk.flow.names import CURSOR
from cinatra_sdk.flow.nodes.subflow import make_flow_body
from cinatra_sdk.flow.plan import FlowPlan, NodeWork
from cinatra_sdk.flow.site import NodeSite

State = Mapping[str, Any]
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

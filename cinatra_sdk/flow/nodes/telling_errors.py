"""A node whose failure is no failure of its run, but a text that it puts out.

    the tool raises ValueError: no such id   ->  {"found": "node 'look': tool 'look' raised ValueError: …"}

What counts as a failure is what a CatchExceptionNode catches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.failures import FAILURES, is_failure
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import FlowPlan, NodeWork
from cinatra_sdk.flow.site import NodeSite

State = Mapping[str, Any]


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

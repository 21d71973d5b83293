"""The end of a flow: collects the flow's outputs and ends the run as completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, caster
from cinatra_sdk.flow.frame import MISSING, Frame
from cinatra_sdk.flow.names import BRANCH, ENDED, OUTPUTS
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.governed.state import seal
from cinatra_sdk.values.ports import TypedPort


@dataclass(frozen=True, slots=True, kw_only=True)
class End(NodeWork):
    """The end of a flow."""

    kind: ClassVar[str] = "EndNode"
    branch: str = "next"
    """The branch by which a node around the flow goes on."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_end(
            site.frame,
            inputs=site.plan.inputs,
            outputs_of_flow=site.flow.outputs,
            branch=self.branch,
        )


def make_end(
    frame: Frame,
    *,
    inputs: Sequence[TypedPort],
    outputs_of_flow: Sequence[TypedPort],
    branch: str,
) -> NodeBody:
    """inputs: of this end.  branch: the branch of an enclosing node that this end leaves by."""
    plans = {plan.title: plan for plan in frame.inputs}
    types = {port.title: port.type for port in inputs}

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        outputs = {}
        for port in outputs_of_flow:
            plan = plans.get(port.title)
            value = frame.look_up(plan, state) if plan is not None else MISSING
            if value is MISSING and port.default is not None:
                # An output that this end does not produce takes the flow-level default.
                value = port.default.value()
            elif value is not MISSING:
                convert = caster(types[port.title], port.type)
                try:
                    value = value if convert is None else convert(value)
                except CastError as error:
                    raise frame.failed(f"output '{port.title}': {error}") from None
            if value is MISSING:
                raise frame.failed(
                    f"the flow's output '{port.title}' has no value on this way through the flow",
                    hint="feed it by a data edge on every way, or give it a default",
                )
            outputs[port.title] = value
        ending = {
            OUTPUTS: seal(outputs),
            BRANCH: seal(branch),
            ENDED: seal({"scope": state["run"]["scope"]}),
            "status": "completed",
        }
        return frame.finish(state, outputs, more=ending)

    return NodeBody(run=run, computes=True)

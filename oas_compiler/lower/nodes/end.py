"""EndNode: collects the flow's outputs and ends the run as completed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.governed.state import seal
from oas_compiler.ir import EndNode
from oas_compiler.lower.casting import CastError, caster
from oas_compiler.lower.frame import MISSING
from oas_compiler.lower.names import BRANCH, ENDED, OUTPUTS
from oas_compiler.lower.registry import Lowered, LoweringSite


def lower_end(site: LoweringSite) -> Lowered:
    node, frame, flow = site.node, site.frame, site.flow
    assert isinstance(node, EndNode)
    plans = {plan.title: plan for plan in frame.inputs}
    types = {port.title: port.type for port in node.inputs}

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        outputs = {}
        for port in flow.outputs:
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
            BRANCH: seal(node.branch_name),
            ENDED: seal({"scope": state["run"]["scope"]}),
            "status": "completed",
        }
        return frame.finish(state, outputs, more=ending)

    return Lowered(run=run)

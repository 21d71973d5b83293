"""StartNode: in the outermost flow also the setup gate."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.inputs import SetupInputs
from cinatra_sdk.flow.nodes.start import make_inner_start, make_start
from oas_compiler.ir import StartNode
from oas_compiler.lower.registry import LoweringSite


def lower_start(site: LoweringSite) -> NodeBody:
    node, wiring = site.node, site.wiring
    assert isinstance(node, StartNode)
    setup = list_setup_inputs(node)
    if site.depth > 0:
        return make_inner_start(site.frame, setup)
    return make_start(
        site.frame,
        setup,
        name=node.name,
        digest=wiring.digest,
        policy=wiring.approval.policy,
        guards=wiring.approval.guards,
    )


def list_setup_inputs(node: StartNode) -> SetupInputs:
    return SetupInputs(
        inputs=node.inputs,
        required=node.required,
        hidden=node.hidden,
        renderers=dict(node.renderers),
    )

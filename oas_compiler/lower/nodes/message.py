"""OutputMessageNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.message import make_message
from oas_compiler.ir import OutputMessageNode
from oas_compiler.lower.registry import LoweringSite


def lower_message(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, OutputMessageNode)
    return make_message(site.frame, message=node.message)

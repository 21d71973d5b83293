"""A node that stands alone in its document, as a flow: start → node → end.

LlmNode("ask", inputs=("topic",), outputs=("text",))  ->  a flow with the input topic and the output text
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.ir import DataEdge, FlowIR, Node, Route


def wrap_node(node: Node) -> FlowIR:
    """The flow whose inputs and outputs are those of the node; each of its branches ends the flow."""
    start = ir.StartNode(
        id=_choose_id("start", node),
        name="Start",
        inputs=node.inputs,
        outputs=node.inputs,
        required=tuple(port.title for port in node.inputs if port.default is None),
        place=node.place,
    )
    end = ir.EndNode(
        id=_choose_id("end", node),
        name="End",
        inputs=node.outputs,
        outputs=node.outputs,
        branches=(),
        place=node.place,
    )
    into = (
        DataEdge(source=start.id, output=port.title, target=node.id, input=port.title)
        for port in node.inputs
    )
    out = (
        DataEdge(source=node.id, output=port.title, target=end.id, input=port.title)
        for port in node.outputs
    )
    return FlowIR(
        id=node.id,
        name=node.name,
        description=node.description,
        inputs=node.inputs,
        outputs=node.outputs,
        start=start.id,
        nodes=(start, node, end),
        routes=(
            Route(source=start.id, branch="next", target=node.id),
            *(Route(source=node.id, branch=branch, target=end.id) for branch in node.branches),
        ),
        data_edges=(*into, *out),
        place=node.place,
    )


def _choose_id(name: str, node: Node) -> str:
    return f"{name}_of_flow" if node.id == name else name

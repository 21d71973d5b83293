"""Every input without a default is fed by a data edge.

    an ApiNode input "topic" without default and edge   ->   OAS063

A StartNode is fed by whoever starts the flow.  An EndNode's value may also come from the
default of the flow's output of that name.
"""

from __future__ import annotations

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import EndNode, FlowIR, FlowNode, StartNode
from oas_compiler.unsupported import UnsupportedNode


def required_inputs(flow: FlowIR, findings: Diagnostics) -> None:
    fed = {(edge.target, edge.input) for edge in flow.data_edges}
    fallback = {port.title for port in flow.outputs if port.default is not None}
    for node in flow.nodes:
        if isinstance(node, (StartNode, UnsupportedNode)):
            continue
        for port in node.inputs:
            if port.default is not None or (node.id, port.title) in fed:
                continue
            if isinstance(node, EndNode) and port.title in fallback:
                continue
            findings.error(
                "OAS063",
                f'the input "{port.title}" of "{node.id}" has no data edge and no default',
                node.place if isinstance(node, FlowNode) else port.place,
                hint=f'connect an output to it, or give "{port.title}" a default',
            )

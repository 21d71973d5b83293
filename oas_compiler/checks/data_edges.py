"""A data edge connects a real output to a real input that can take its values.

an edge from or to a node that is not in the flow      ->   OAS060
an output / input that the node does not have          ->   OAS061 / OAS062
an output whose values the input could never take      ->   OAS064
"""

from __future__ import annotations

from collections.abc import Mapping

from oas_compiler.casting import castable, shown
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import DataEdge, FlowIR, Node
from oas_compiler.spelling import nearest
from oas_compiler.unsupported import UnsupportedNode


def data_edges(flow: FlowIR, findings: Diagnostics) -> None:
    nodes = {node.id: node for node in flow.nodes}
    inputs = {node.id: {port.title: port for port in node.inputs} for node in flow.nodes}
    outputs = {node.id: {port.title: port for port in node.outputs} for node in flow.nodes}
    for edge in flow.data_edges:
        if not _has_both_ends(flow, edge, nodes, findings):
            continue
        source, target = nodes[edge.source], nodes[edge.target]
        output = outputs[source.id].get(edge.output)
        into = inputs[target.id].get(edge.input)
        if output is None and not isinstance(source, UnsupportedNode):
            findings.error(
                "OAS061",
                f'"{source.id}" has no output "{edge.output}"',
                edge.place,
                hint=nearest(edge.output, outputs[source.id], findings),
            )
        if into is None and not isinstance(target, UnsupportedNode):
            findings.error(
                "OAS062",
                f'"{target.id}" has no input "{edge.input}"',
                edge.place,
                hint=nearest(edge.input, inputs[target.id], findings),
            )
        if output is not None and into is not None and not castable(output.type, into.type):
            findings.error(
                "OAS064",
                f'"{source.id}.{output.title}" is {shown(output.type)}, '
                f'"{target.id}.{into.title}" takes {shown(into.type)}',
                edge.place,
            )


def _has_both_ends(
    flow: FlowIR, edge: DataEdge, nodes: Mapping[str, Node], findings: Diagnostics
) -> bool:
    missing = [end for end in (edge.source, edge.target) if end not in nodes]
    for end in missing:
        findings.error(
            "OAS060",
            f'a data edge names "{end}", which is not in the nodes of the flow "{flow.id}"',
            edge.place,
            hint=nearest(end, nodes, findings) or "add it to nodes",
        )
    return not missing

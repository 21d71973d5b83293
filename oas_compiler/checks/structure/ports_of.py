"""The ports of a flow's nodes by title, each worked out once however many edges ask.

Titles(flow).inputs(node)["topic"]   ->   the Port

Not a rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from oas_compiler.ir import FlowIR, Node, Port


class Titles:
    """Inputs and outputs of the nodes of one flow."""

    def __init__(self, flow: FlowIR) -> None:
        self._inputs = {id(node): {port.title: port for port in node.inputs} for node in flow.nodes}
        self._outputs = {
            id(node): {port.title: port for port in node.outputs} for node in flow.nodes
        }

    def inputs(self, node: Node) -> Mapping[str, Port]:
        return self._inputs[id(node)]

    def outputs(self, node: Node) -> Mapping[str, Port]:
        return self._outputs[id(node)]

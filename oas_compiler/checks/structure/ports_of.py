"""The ports of a flow's nodes by title, each worked out once however many edges ask.

Titles(flow).inputs(node)["topic"]   ->   the Port

Not a rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from oas_compiler.findings.rules import Report
from oas_compiler.ir import FlowIR, Node, Port

_MOST_NAMED: Final = 5


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


def instead(report: Report, name: str, titles: Collection[str], *, kind: str) -> str:
    """What to write for the name of a port that its node lacks; `kind`: input or output."""
    near = report.nearest(name, titles)
    if near:
        return near
    if not titles:
        return f"declare the {kind} at the node, which has none"
    named = ", ".join(f'"{title[:80]}"' for title in list(titles)[:_MOST_NAMED])
    more = ", …" if len(titles) > _MOST_NAMED else ""
    return f"declare it at the node, or name an {kind} that is there: {named}{more}"

"""What only the host may set is no input of a flow.

    a StartNode input "bearer_token", or a data edge into "approval_policy"   ->   OAS091

Source of the rule: R-01 of the agent development guide.
"""

from __future__ import annotations

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import FlowIR, StartNode

AUTHORITATIVE = frozenset({"bearer_token", "approval_policy", "rejected_at"})


def authority(flow: FlowIR, findings: Diagnostics) -> None:
    named = [
        (port.title, port.place)
        for node in flow.nodes
        if isinstance(node, StartNode)
        for port in node.inputs
    ]
    named += [(edge.input, edge.place) for edge in flow.data_edges]
    for title, place in named:
        if title in AUTHORITATIVE:
            findings.error(
                "OAS091",
                f'"{title}" is set by the host alone and cannot be an input',
                place,
                hint="remove it; the runtime supplies it where it is needed",
            )

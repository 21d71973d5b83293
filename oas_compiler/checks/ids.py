"""Node ids are unique within a flow: edges, gates and the platform address nodes by id.

two nodes with id "end"   ->   OAS027 at the second
"""

from __future__ import annotations

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import FlowIR


def ids(flow: FlowIR, findings: Diagnostics) -> None:
    seen: set[str] = set()
    for node in flow.nodes:
        if node.id in seen:
            findings.error(
                "OAS027", f'the flow "{flow.id}" has two nodes with the id "{node.id}"', node.place
            )
        seen.add(node.id)

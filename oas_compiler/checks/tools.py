"""Every server tool of the flow is registered with the host.

a ToolNode over "get_wether", registered is "get_weather"   ->   OAS092 did you mean …?
"""

from __future__ import annotations

from collections.abc import Collection

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import FlowIR, ToolNode
from oas_compiler.spelling import nearest


def registered_tools(flow: FlowIR, findings: Diagnostics, tools: Collection[str]) -> None:
    for node in flow.nodes:
        if isinstance(node, ToolNode) and node.tool_name not in tools:
            findings.error(
                "OAS092",
                f'the tool "{node.tool_name}" of "{node.id}" is not registered',
                node.place,
                hint=nearest(node.tool_name, tools, findings)
                or f'pass it: tools={{"{node.tool_name}": …}}',
            )

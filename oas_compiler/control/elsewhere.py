"""Whether a flow goes to models, MCP servers or agents, which no platform stands for.

a flow with an LlmNode, an MCPTool or an A2AAgent    ->  True
a flow whose calls all go through its platform       ->  False
"""

from __future__ import annotations

from oas_compiler.ir import ApiNode, ClientToolNode, FlowIR, ToolNode, walk
from oas_compiler.kinds.registry import kind_of


def goes_elsewhere(flow: FlowIR) -> bool:
    """A simulated platform would answer in their place."""
    acting = (node for _, node in walk(flow) if kind_of(node).acts and not node.subflows)
    return not all(isinstance(node, (ApiNode, ToolNode, ClientToolNode)) for node in acting)

"""Whether a flow goes to models, MCP servers or agents, which no platform stands for.

a flow with an LlmNode, an MCPTool or an A2AAgent    ->  True
a flow whose calls all go through its platform       ->  False
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.ir import ApiNode, ClientToolNode, FlowIR, Node, ToolNode, walk
from oas_compiler.kinds.registry import kind_of


def goes_elsewhere(flow: FlowIR) -> bool:
    """A simulated platform would answer in their place."""
    return not all(
        isinstance(node, (ApiNode, ToolNode, ClientToolNode)) for node in _list_acting(flow)
    )


def acts_at_all(flow: FlowIR) -> bool:
    """Whether any node of the flow calls, asks or runs anything outside of it."""
    return any(True for _ in _list_acting(flow))


def _list_acting(flow: FlowIR) -> Iterator[Node]:
    return (node for _, node in walk(flow) if kind_of(node).acts and not node.subflows)

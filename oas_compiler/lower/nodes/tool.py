"""ToolNode over each kind of tool, and the nodes of an agent's toolboxes."""

from __future__ import annotations

from cinatra_sdk.flow.nodes.client_tool import ClientTool
from cinatra_sdk.flow.nodes.telling_errors import TellsErrors
from cinatra_sdk.flow.nodes.tool import ToolCall
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.mcp.tool import McpToolCall
from cinatra_sdk.mcp.toolbox import McpToolList, Signature
from cinatra_sdk.mcp.transport import McpWay
from oas_compiler import ir
from oas_compiler.ir import AgentCallsNode, ClientToolNode, McpListNode, McpToolNode, RemoteToolNode
from oas_compiler.kinds.tool import tells_errors
from oas_compiler.lower.nodes.api import lower_remote_tool
from oas_compiler.lower.registry import PlanSite, plain_ports


def lower_tool(site: PlanSite) -> NodeWork:
    """A tool of WayFlow's node may tell its error as its output."""
    work = _lower_raising(site)
    return TellsErrors(work=work) if site.node.outputs and tells_errors(site.node) else work


def _lower_raising(site: PlanSite) -> NodeWork:
    node = site.node
    if isinstance(node, RemoteToolNode):
        return lower_remote_tool(site, node)
    if isinstance(node, ClientToolNode):
        return ClientTool(tool=node.tool_name, confirmed=node.behind.asks_person)
    if isinstance(node, McpToolNode):
        return _lower_mcp_tool(site, node)
    if isinstance(node, McpListNode):
        return _lower_tool_list(node)
    assert isinstance(node, ir.ToolNode)
    return ToolCall(
        tool=node.tool_name,
        configuration=node.configuration,
        confirmed=node.behind.asks_person,
    )


def _lower_mcp_tool(site: PlanSite, node: McpToolNode) -> McpToolCall:
    return McpToolCall(
        server=_read_transport(node.server),
        retry=node.retry,
        tool=node.tool_name,
        of_agent=any(isinstance(other, AgentCallsNode) for other in site.flow.nodes),
        confirmed=node.behind.asks_person,
    )


def _lower_tool_list(node: McpListNode) -> McpToolList:
    return McpToolList(
        server=_read_transport(node.server),
        retry=node.retry,
        names=node.names,
        signatures=tuple(
            Signature(tool=tool.name, inputs=plain_ports(tool.inputs)) for tool in node.signatures
        ),
    )


def _read_transport(server: ir.McpTransport) -> McpWay:
    return McpWay(
        transport=server.transport,
        settings=server.settings,
        sensitive=server.sensitive,
        login=server.login,
    )

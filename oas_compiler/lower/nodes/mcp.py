"""ToolNode over an MCPTool, and the nodes of an agent's toolboxes; what they do is in `cinatra_sdk.mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.mcp.login import McpLogin
from cinatra_sdk.mcp.server import McpServer, Transport
from cinatra_sdk.mcp.tool import McpAccess, McpToolSettings, make_mcp_tool
from cinatra_sdk.mcp.toolbox import Signature, ToolboxSettings, make_tool_list
from cinatra_sdk.values.retry_policy import CallRetryPolicy
from oas_compiler import ir
from oas_compiler.ir import AgentCallsNode, McpListNode, McpToolNode
from oas_compiler.lower.lent_secrets import lend_secrets, lend_text, list_secret_texts
from oas_compiler.lower.nodes.llm import find_simulation, make_allowance
from oas_compiler.lower.registry import LoweringSite, Wiring
from oas_compiler.templates.reading import fill_environment

_TRANSPORTS: Final[Mapping[str, Transport]] = {
    "StdioTransport": "stdio",
    "SSETransport": "sse",
    "SSEmTLSTransport": "sse",
    "StreamableHTTPTransport": "streamable_http",
    "StreamableHTTPmTLSTransport": "streamable_http",
}
_USUAL_TIMEOUT: Final = 60.0


def lower_mcp_tool(site: LoweringSite, node: McpToolNode) -> NodeBody:
    settings = McpToolSettings(
        access=_make_access(site, node.server, node.retry),
        tool=node.tool_name,
        in_agent=any(isinstance(other, AgentCallsNode) for other in site.flow.nodes),
        asks_person=node.behind.asks_person,
        name=node.name,
    )
    return make_mcp_tool(site.frame, settings)


def lower_tool_list(site: LoweringSite, node: McpListNode) -> NodeBody:
    settings = ToolboxSettings(
        access=_make_access(site, node.server, node.retry),
        names=node.names,
        signatures=tuple(Signature(tool=tool.name, inputs=tool.inputs) for tool in node.signatures),
    )
    return make_tool_list(site.frame, settings)


def _make_access(
    site: LoweringSite, server: ir.McpTransport, retry: CallRetryPolicy | None
) -> McpAccess:
    host = site.wiring.host
    return McpAccess(
        server=_read_server(server, retry, site.wiring),
        servers=host.mcp,
        may_call=make_allowance(site.wiring.platform, host.allow),
        simulation=find_simulation(site.wiring.platform),
        secrets=(*site.wiring.env.values(), *list_secret_texts(host.secrets)),
    )


def _read_server(
    server: ir.McpTransport, retry: CallRetryPolicy | None, wiring: Wiring
) -> McpServer:
    """What the file says wrongly was found when it was checked, and counts as absent."""
    lent, env = wiring.host.secrets, wiring.env
    fields: Any = fill_environment(lend_secrets(server.settings.value(), lent), env)
    sensitive: Any = fill_environment(lend_secrets(server.sensitive.value(), lent), env)
    session = fields.get("session_parameters")
    timeout = session.get("read_timeout_seconds") if isinstance(session, dict) else None
    return McpServer(
        transport=_TRANSPORTS[server.transport],
        headers=_read_texts(fields.get("headers")),
        sensitive_headers=_read_texts(sensitive.get("sensitive_headers")),
        args=tuple(str(one) for one in fields.get("args") or ()),
        env=_read_texts(sensitive.get("env")),
        read_timeout=_read_seconds(timeout),
        login=_read_login(server.login.mapping(), wiring),
        retry=retry or CallRetryPolicy(),
        **{
            name: value
            for name in ("id", "name", "url", "command", "cwd", "key_file", "cert_file", "ca_file")
            if isinstance(value := fields.get(name), str)
        },
    )


def _read_login(fields: dict[str, Any], wiring: Wiring) -> McpLogin | None:
    if not fields:
        return None
    secrets, client = wiring.host.secrets, fields.get("client") or {}
    scopes, own = fields.get("scopes"), str(fields.get("id", ""))

    def read(value: object) -> str:
        found: Any = fill_environment(lend_text(value, secrets), wiring.env)
        return found if isinstance(found, str) else ""

    return McpLogin(
        id=own,
        issuer=read(fields.get("issuer")),
        scopes=" ".join(map(str, scopes)) if isinstance(scopes, list) else str(scopes or ""),
        client_id=read(client.get("client_id")),
        client_secret=read(client.get("client_secret")),
        sends_secret_in_body=client.get("token_endpoint_auth_method") == "client_secret_post",
        access_token=(secrets or {}).get(f"{own}.access_token"),
    )


def _read_texts(value: Any) -> dict[str, str]:
    return {key: str(text) for key, text in value.items()} if isinstance(value, dict) else {}


def _read_seconds(value: Any) -> float:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return float(value) if usable else _USUAL_TIMEOUT

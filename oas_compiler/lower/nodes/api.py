"""ApiNode, and a ToolNode over a RemoteTool: one request through the platform."""

from __future__ import annotations

from typing import Any

from cinatra_sdk.flow.nodes.api import ApiCall, RemoteToolCall
from oas_compiler.ir import ApiNode, RemoteToolNode
from oas_compiler.lower.registry import PlanSite
from oas_compiler.lower.reopening import way_back


def lower_api(site: PlanSite) -> ApiCall:
    node = site.node
    assert isinstance(node, ApiNode)
    return ApiCall(**_read_request(site, node))


def lower_remote_tool(site: PlanSite, node: RemoteToolNode) -> RemoteToolCall:
    request = _read_request(site, node)
    return RemoteToolCall(**request, tool=node.tool_name, confirmed=node.behind.asks_person)


def _read_request(site: PlanSite, node: ApiNode) -> dict[str, Any]:
    return {
        "method": node.method,
        "url": node.url,
        "headers": node.headers,
        "query": node.query,
        "data": node.data,
        "sensitive_headers": node.sensitive_headers,
        "retry": node.retry,
        "url_allow_list": node.url_allow_list,
        "back": way_back(site.flow, node),
    }

"""How a capability is called, by the type of its adapter.

    tool        a Python function that the host lends: HostParts(tools={"issue_refund": issue_refund})
    http, openapi    the capability binds to `POST https://…`; the arguments are the body
    mcp         a tool of the server `endpoint_ref`, which the host lends: HostParts(mcp={…})
    agent       a compiled flow, or a function, under an agent's name: Governance(agents={…}), HostParts(tools={…})

Each call carries its idempotency key and its place in the trace (`current_call.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.canonical import spell_integers
from cinatra_sdk.governance.current_call import CurrentCall
from cinatra_sdk.governance.results import ToolOutput
from cinatra_sdk.governance.rulebook import DeclaredCapability
from cinatra_sdk.lending.host_parts import HostParts
from cinatra_sdk.platform.protocol import PlatformCall
from cinatra_sdk.values.json_values import bring_into_json_form, check_value

_AS_FUNCTION: Final = ("tool", "agent", "model", "a2a")


def find_function(
    declared: DeclaredCapability, parts: HostParts, call: CurrentCall, key: str
) -> Callable[[Mapping[str, Any]], Any]:
    """The function that makes the call from its arguments; it may be asynchronous.

    Raises: `NotConfigured` where the host lends nothing for it.
    """
    if declared.adapter.type in _AS_FUNCTION:
        return _find_tool(declared, parts)
    if declared.adapter.type == "mcp":
        return _make_mcp(declared, parts, key)
    return _make_http(declared, parts, call, key)


def _find_tool(
    declared: DeclaredCapability, parts: HostParts
) -> Callable[[Mapping[str, Any]], Any]:
    tool = parts.tools.get(declared.bound_to) or parts.tools.get(declared.id)
    if tool is None:
        raise NotConfigured(
            f"the host lends no tool '{declared.bound_to}' for '{declared.id}'",
            hint=f"HostParts(tools={{'{declared.bound_to}': …}})",
        )
    found = tool
    return lambda args: found(**args)


def _make_http(
    declared: DeclaredCapability, parts: HostParts, call: CurrentCall, key: str
) -> Callable[[Mapping[str, Any]], Any]:
    method, _, url = declared.bound_to.partition(" ")
    platform = parts.platform
    if platform is None or not url:
        raise NotConfigured(
            f"'{declared.id}' cannot be called: the host lends no platform, or it binds to no request",
            hint="binds_to: 'POST https://…'; HostParts(platform=HttpPlatform(…))",
        )
    found = platform

    def send(args: Mapping[str, Any]) -> JsonValue:
        return found.call(
            PlatformCall(
                node="step",
                path=f"step/{call.envelope.tool_call_id}",
                method=method.upper(),
                url=url,
                body=dict(args),
                run_id=call.run.run_id,
                context_id=call.run.session_id or call.run.run_id,
                idempotency_key=key,
                once=declared.about.at_most_once,
            )
        )

    return send


def _make_mcp(
    declared: DeclaredCapability, parts: HostParts, key: str
) -> Callable[[Mapping[str, Any]], Any]:
    name, tool = _name_mcp(declared, parts)
    lent = parts.mcp.get(name) or parts.mcp.get("*")
    if lent is None:
        raise NotConfigured(
            f"the host lends no MCP server '{name}' for '{declared.id}'",
            hint="binds_to: 'server/tool', or endpoint_ref of the adapter; HostParts(mcp={'server': …})",
        )

    async def ask(args: Mapping[str, Any]) -> Any:
        from cinatra_sdk.mcp.calling import RequestFailed, ServerLink, acall
        from cinatra_sdk.mcp.results import read_text
        from cinatra_sdk.mcp.server import McpServer
        from cinatra_sdk.remote.words import tell_problem

        server = McpServer(name=name or declared.adapter.adapter_id, transport="streamable_http")
        bounds = parts.remote_bounds
        link = ServerLink(server=server, lent=lent, rules=server.retry, bounds=bounds)
        result = await acall(link, tool, dict(args), key)
        if result.get("isError"):
            raise RequestFailed(tell_problem(f"tool '{tool}' says: {read_text(result)}", ()))
        found = result.get("structuredContent")
        return read_text(result) if found is None else found

    return ask


def _name_mcp(declared: DeclaredCapability, parts: HostParts) -> tuple[str, str]:
    """The server and its tool: of the adapter and `binds_to`, or `server/tool` as compiled flows have it."""
    name, bound = declared.adapter.endpoint_ref, declared.bound_to
    server, slash, tool = bound.partition("/")
    known = server in parts.mcp or "*" not in parts.mcp
    return (server, tool) if slash and not name and known else (name, bound)


def read_made(made: Any, declared: DeclaredCapability) -> dict[str, JsonValue]:
    """What a function gave: `{"output", "mutations", "artifacts", "cost_cents"}`.

    Raises: `ValueRefused` for what is no JSON.
    """
    said = made if isinstance(made, ToolOutput) else ToolOutput(output=made)
    where = f"what '{declared.id}' returned"
    found: dict[str, JsonValue] = {
        "output": spell_integers(bring_into_json_form(said.output, where=where)),
        "mutations": [str(one) for one in said.mutations],
        "artifacts": spell_integers(bring_into_json_form(list(said.artifacts), where=where)),
        "cost_cents": max(0.0, float(said.cost_cents)),
    }
    check_value(found, where=where)
    return found


def read_cost(made: Mapping[str, JsonValue]) -> float:
    """What the call cost beyond what its adapter declares, in cents."""
    cost = made.get("cost_cents")
    return float(cost) if isinstance(cost, (int, float)) else 0.0

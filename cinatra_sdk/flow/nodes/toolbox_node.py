"""The node that lists the tools of an MCP server, for an agent that uses the toolbox.

    {"tools": [{"name": "search", "tool": "search", "description": "…", "schema": {…}}]}

The list is one effect: an agent that another process goes on with has the same tools as at its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.flow.nodes.mcp_tool_node import (
    McpAccess,
    describe_failure,
    make_secrets,
    make_simulated_call,
    open_access,
)
from cinatra_sdk.flow.plan.frame import Frame, NodeBody, effect_of
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.requests.allowances import wait_for
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectResult
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.mcp.calls import RequestFailed, alist
from cinatra_sdk.outside.mcp.server import McpWay

State = Mapping[str, Any]
TOOLS: Final = "tools"
"""The output with the list."""
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A tool as the file describes it; the server must have it so."""

    tool: str
    inputs: tuple[TypedPort, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolList(NodeWork):
    """Lists the tools of an MCP server, for an agent."""

    kind: ClassVar[str] = "McpListNode"
    acts: ClassVar[bool] = True
    asks_platform: ClassVar[bool] = True
    server: McpWay
    retry: CallRetryPolicy | None = None
    names: tuple[str, ...] | None = None
    """The tools that are offered; None: all."""
    signatures: tuple[Signature, ...] = ()
    """Tools with nodes of their own: they are only compared."""

    def make_body(self, site: NodeSite) -> NodeBody:
        settings = ToolboxSettings(
            access=open_access(site.wiring, self.server, self.retry),
            names=self.names,
            signatures=self.signatures,
        )
        return make_tool_list(site.frame, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolboxSettings:
    """Which tools of a server are offered."""

    access: McpAccess
    names: tuple[str, ...] | None = None
    """Those with these names; None: all."""
    signatures: tuple[Signature, ...] = ()
    """Tools with nodes of their own: they are only compared."""


def make_tool_list(frame: Frame, settings: ToolboxSettings) -> NodeBody:
    """The body of the node."""
    access = settings.access

    def describe(state: State) -> Effect:
        simulated = "simulated/" if access.is_simulated else ""
        return effect_of(
            frame,
            state,
            kind="mcp",
            capability=f"{simulated}{access.server.label}",
            arguments={"list": "tools"},
            secrets=make_secrets(access),
        )

    async def amake(effect: Effect) -> EffectResult:
        if access.simulation is not None and access.is_simulated:
            response = await access.simulation.acall(make_simulated_call(effect, ()))
            found = response.get(TOOLS) if isinstance(response, dict) else None
            listed = (
                [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            )
            return EffectResult(value=_choose(listed, settings) if listed else [])
        try:
            chosen = _choose(await alist(access.link()), settings)
            return EffectResult(value=cut_out(chosen, effect.secrets))
        except (NotConfigured, RequestFailed) as error:
            failure = describe_failure(frame, access, "the list of tools", error)
        raise failure[0] from failure[1]

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        effect, host = describe(state), context_of(runtime.context)
        made = perform(effect, lambda: wait_for(lambda: amake(effect)), host.door)
        return frame.finish(state, {TOOLS: made.value})

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        effect, host = describe(state), context_of(runtime.context)
        made = await aperform(effect, lambda: amake(effect), host.door)
        return frame.finish(state, {TOOLS: made.value})

    return NodeBody(run=run, arun=arun, acts=True, performs=True)


def _choose(listed: Sequence[Mapping[str, JsonValue]], settings: ToolboxSettings) -> JsonValue:
    """Raises: `RequestFailed` where the server has not what the file names."""
    by_name = {str(one.get("name")): one for one in listed}
    own = {one.tool for one in settings.signatures}
    wanted = [name for name in by_name if name not in own]
    if settings.names is not None:
        wanted = [name for name in settings.names if name not in own]
    missing = [name for name in (*wanted, *own) if name not in by_name]
    if missing:
        offered = ", ".join(sorted(by_name)[:20]) or "none"
        raise RequestFailed(f"it has no tool '{missing[0][:80]}'; it has: {offered}")
    for signature in settings.signatures:
        _compare(signature, by_name[signature.tool])
    return [_describe_tool(by_name[name]) for name in wanted]


def _describe_tool(tool: Mapping[str, JsonValue]) -> JsonValue:
    name = str(tool.get("name"))
    schema = tool.get("inputSchema")
    return {
        "name": _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME],
        "tool": name,
        "description": str(tool.get("description") or ""),
        "schema": schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
    }


def _compare(signature: Signature, tool: Mapping[str, JsonValue]) -> None:
    """Whether the server's tool takes what the file says.

    Raises: `RequestFailed`.
    """
    schema = tool.get("inputSchema")
    schema = schema if isinstance(schema, dict) else {}
    properties, required = schema.get("properties"), schema.get("required")
    known = set(properties) if isinstance(properties, dict) else set()
    needed = (
        {one for one in required if isinstance(one, str)} if isinstance(required, list) else set()
    )
    given = {port.title for port in signature.inputs}
    problems = [f"takes no '{title[:80]}'" for title in sorted(given - known)]
    problems += [f"needs '{title[:80]}'" for title in sorted(needed - given)]
    if problems:
        raise RequestFailed(
            f"its tool '{signature.tool[:80]}' {problems[0]}, other than the file says"
        )

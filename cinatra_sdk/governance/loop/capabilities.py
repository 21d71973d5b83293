"""The call of a capability, by the type of its adapter.

    tool        a Python function that the host lends: HostParts(tools={"issue_refund": issue_refund})
    http, openapi    the capability binds to `POST https://…`; the arguments are the body
    mcp         a tool of the server `endpoint_ref`, which the host lends: HostParts(mcp={…})
    agent       a compiled flow, or a function, under an agent's name: Governance(agents={…}), HostParts(tools={…})

Each call carries its idempotency key and its place in the trace (`governance/run/current_call.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.activations import advance
from cinatra_sdk.data.json_values import bring_into_json_form, check_value
from cinatra_sdk.errors import EffectRefused, NodeFailed, NotConfigured
from cinatra_sdk.governance.contracts.invocation import AgentIdentity
from cinatra_sdk.governance.contracts.record_format import spell_integers
from cinatra_sdk.governance.gateway.call_result import ToolOutput
from cinatra_sdk.governance.gateway.delegation import list_scopes, narrow
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability
from cinatra_sdk.governance.run.current_call import CurrentCall, during_call
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.runs import Stop

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
        from cinatra_sdk.outside.mcp.calls import RequestFailed, acall, link_lent, read_text
        from cinatra_sdk.outside.remote_answers.foreign_answer import tell_problem

        link = link_lent(name or declared.adapter.adapter_id, lent, parts.remote_bounds)
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


# ----------------------------------------------------------------------------
# A compiled flow as a capability: `agent:acme/billing@1.0.0`, with a part of what its parent may do.
#
#     Governance(agents={"agent:acme/billing@1.0.0": flow}, …)
#
# The flow runs to its end inside the call, under a run of its own in the parent's trace; its calls are in
# the parent's ledger, so that a crash repeats none of them.  A gate inside cannot wait there: the call
# fails, and a person has to begin the flow by itself.


def call_flow(
    flow: Any, declared: DeclaredCapability, call: CurrentCall, args: Mapping[str, Any]
) -> Any:
    """The outputs of the flow.

    Raises: `NodeFailed` where the flow waits or was rejected; what its nodes raise.
    """
    name = f"{call.run.run_id}.{call.envelope.tool_call_id}"
    with during_call(replace(call, run=_narrow_run(declared, call, name))):
        stop = _run(flow, args, name)
    if stop.status != "completed":
        gates = ", ".join(gate.id for gate in stop.gates)
        raise _fail(
            f"the flow of '{declared.id}' is {stop.status}{f' at {gates}' if gates else ''}",
            hint="begin it by itself, where a person can be asked" if gates else "",
        )
    return dict(stop.outputs or {})


def _run(flow: Any, args: Mapping[str, Any], name: str) -> Stop:
    host = context_of(get_runtime(HostContext).context)
    try:
        return advance(
            flow.graph(InMemorySaver()),
            flow.input(args),
            flow.config(run_id=name),
            context=replace(host, run_id=name),
            answer=lambda _gate: None,
        )
    except EffectRefused as refused:
        # Of a call that the flow made: the call of the flow itself was let through, and failed.
        problem = f"{refused.code}: {refused.message}"
    raise _fail(problem)


def _fail(message: str, *, hint: str = "") -> NodeFailed:
    return NodeFailed(message, node="step", hint=hint)


def _narrow_run(declared: DeclaredCapability, call: CurrentCall, name: str) -> Any:
    urn = declared.bound_to
    slug = urn.partition("/")[2].partition("@")[0]
    agent = AgentIdentity(
        agent_id=slug, agent_urn=urn, workload_identity=f"spiffe://oasflow/flows/{slug}"
    )
    wanted = declared.about.scopes or tuple(sorted(list_scopes(call.run)))
    return narrow(call.run, agent, run_id=name, scopes=wanted, used=call.allowance.usage.read())

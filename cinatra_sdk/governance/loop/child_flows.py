"""A compiled flow as a capability: `agent:acme/billing@1.0.0`, with a part of what its parent may do.

    Governance(agents={"agent:acme/billing@1.0.0": flow}, …)

The flow runs to its end inside the call, under a run of its own in the parent's trace; its calls are in
the parent's ledger, so that a crash repeats none of them.  A gate inside cannot wait there: the call
fails, and a person has to begin the flow by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import get_runtime

from cinatra_sdk.advancing import advance
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.errors import EffectRefused, NodeFailed
from cinatra_sdk.governance.contracts.identity import AgentIdentity
from cinatra_sdk.governance.current_call import CurrentCall, during_call
from cinatra_sdk.governance.delegating import narrow
from cinatra_sdk.governance.delegation import list_scopes
from cinatra_sdk.governance.rulebook import DeclaredCapability
from cinatra_sdk.runs import Stop


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

"""FlowNode: a real subgraph, so that a gate inside pauses the whole run and nothing runs twice.

The function around the subgraph only maps values: the engine runs it again when the run is
resumed, and the subgraph goes on from its own checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from cinatra_sdk.gates import label
from cinatra_sdk.state import seal
from cinatra_sdk.tasks import was_sent
from oas_compiler.ir import FlowNode
from oas_compiler.lower.frame import MISSING
from oas_compiler.lower.names import BRANCH, DECISIONS, INPUTS, MESSAGES, OUTPUTS
from oas_compiler.lower.registry import REGISTRY, Lowered, Site


@REGISTRY.register(FlowNode)
def lower_flow_node(site: Site) -> Lowered:
    from oas_compiler.lower.graph import lower_flow  # the one deliberate cycle: flows nest

    node, frame, wiring = site.node, site.frame, site.wiring
    assert isinstance(node, FlowNode)
    subgraph = lower_flow(node.subflow, wiring, around=frame.path, depth=site.depth + 1).compile(
        name=node.subflow.id
    )

    def enter(state: Mapping[str, Any]) -> dict[str, Any]:
        given = {plan.title: frame.look_up(plan, state) for plan in frame.inputs}
        identity = dict(state["run"])
        own = label(node.id, frame.visit(state))
        identity["scope"] = f"{identity['scope']}/{own}" if identity["scope"] else own
        return {
            INPUTS: {title: value for title, value in given.items() if value is not MISSING},
            "bearer_token": seal(state["bearer_token"]),
            "approval_policy": seal(state["approval_policy"]),
            "run": seal(identity),
        }

    def leave(state: Mapping[str, Any], result: Mapping[str, Any]) -> Any:
        kept = {key: seal(result[key]) for key in (MESSAGES, DECISIONS) if result.get(key)}
        if result.get("rejected_at"):
            more = {**kept, "rejected_at": result["rejected_at"], "status": "rejected"}
            return frame.leave(frame.pass_turn(state, {"out": {}}, None, more), None)
        if result.get("status") != "completed":
            raise frame.failed("its subflow stopped before it reached an end")
        branch = result[BRANCH]
        update = frame.finish(state, result[OUTPUTS], branch=branch, more=kept)
        return frame.leave(update, frame.routes.get(branch))

    def run(state: Mapping[str, Any], config: RunnableConfig) -> Any:
        if was_sent() or not frame.has_turn(state):
            return {}
        return leave(state, subgraph.invoke(enter(state), config))

    async def arun(state: Mapping[str, Any], config: RunnableConfig) -> Any:
        if was_sent() or not frame.has_turn(state):
            return {}
        return leave(state, await subgraph.ainvoke(enter(state), config))

    reads = ("run", "bearer_token", "approval_policy")
    return Lowered(run=run, arun=arun, reads=reads, bare=True, chooses=True)

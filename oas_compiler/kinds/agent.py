"""AgentNode: an agent that works, or a flow in its place.

over an Agent    ->  the placeholders of its system prompt, and its outputs
over a Flow      ->  the ports of the flow
"""

from __future__ import annotations

from dataclasses import replace

from oas_compiler import ir
from oas_compiler.component_facts.component import (
    NODE_FIELDS,
    Field,
    LoadedAgent,
    LoadedSwarm,
    Site,
    common,
)
from oas_compiler.component_facts.inference import next_only, specialised
from oas_compiler.component_facts.metadata import (
    ATTACHMENT_KEYS,
    CHILD_KEYS,
    FIRST_TURN_KEY,
    FIRST_TURN_KEYS,
    NODE_KEYS,
    cinatra_error,
    read_attached,
    read_first_turn,
)
from oas_compiler.component_facts.metadata import ATTACHMENTS_KEY as ATTACHMENTS
from oas_compiler.kinds.kind import NodeKind, build_unknown
from oas_compiler.kinds.tool import build_tool


def build_agent(site: Site) -> ir.Node:
    return make_agent(site, ir.AgentNode)


def make_agent(
    site: Site,
    node: type[ir.AgentNode],
    *,
    results: tuple[ir.Port, ...] | None = None,
    asks: bool = True,
) -> ir.Node:
    """The node over the agent; results, asks: as of `build_agent_flow`."""
    agent = site.agent
    if agent is not None:
        # Imported late, as below: most flows have no agent, and its loop is much to load.
        from oas_compiler.component_facts.agent_flows import build_agent_flow

        flow = build_agent_flow(site, agent, build_tool, results=results, asks=asks)
    elif site.subflows_are_whole:
        flow = site.subflows[0]
    else:
        return build_unknown(site)
    _check_told(site, flow.inputs)
    return node(
        **common(site),
        inputs=specialised(site, "inputs", flow.inputs, "agent"),
        outputs=specialised(site, "outputs", flow.outputs, "agent"),
        branches=next_only(site),
        subflow=flow,
        is_apart=agent is None,
        behind=_read_facts(site),
    )


def _check_told(site: Site, inputs: tuple[ir.Port, ...]) -> None:
    """Report what the node says wrong of what its model is told; the agents inside read it where it
    is right.
    """
    if isinstance(site.agent, LoadedAgent | LoadedSwarm):
        if site.component is not site.agent.shown:
            read_first_turn(site, site.component, inputs)
            read_attached(site, site.component, inputs)
        return
    for key in (FIRST_TURN_KEY, ATTACHMENTS):
        if site.component.cinatra.get(key) is not None:
            cinatra_error(site, key, "at a node whose agent has a model of this file")


def _read_facts(site: Site) -> ir.Behind:
    """What the file says of the agent, and of the agent that it is made of."""
    agent = site.agent
    if isinstance(agent, LoadedAgent) and agent.component is not agent.shown:
        from oas_compiler.component_facts.agent_loop import requires_approval

        if requires_approval(agent.component):
            return replace(site.facts_behind, asks_person=True)
    return site.facts_behind


def _describe(node: ir.Node) -> str:
    if isinstance(node, ir.AgentModelNode):
        return "asks the model"
    if isinstance(node, ir.AgentCallsNode):
        return "next call"
    if isinstance(node, ir.AgentShortenNode):
        return "shortens the conversation"
    return "agent elsewhere" if isinstance(node, ir.RemoteAgentNode) else "agent"


AGENT = NodeKind(
    component_type="AgentNode",
    node=ir.AgentNode,
    variants=(ir.AgentModelNode, ir.AgentCallsNode, ir.AgentShortenNode, ir.RemoteAgentNode),
    build=build_agent,
    words="Lets an agent, or a flow in its place, work.",
    fields={
        **NODE_FIELDS,
        "agent": Field("component", "The agent that works.", required=True),
    },
    flows=("agent",),
    passage="all",
    behind="agent",
    shows_screens=True,
    calls=(ir.AgentModelNode, ir.AgentShortenNode, ir.RemoteAgentNode),
    caption=_describe,
    metadata={**NODE_KEYS, **CHILD_KEYS, **FIRST_TURN_KEYS, **ATTACHMENT_KEYS},
    lowering="oas_compiler.lower.service_nodes:lower_agent",
)

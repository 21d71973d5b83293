"""AgentNode, and the nodes of an agent's own flow."""

from __future__ import annotations

from cinatra_sdk.a2a.node import RemoteAgentTalk
from cinatra_sdk.a2a.remote import RemoteAgentWay
from cinatra_sdk.agents.calls import AgentCalls
from cinatra_sdk.agents.offered import OfferedTool, OfferedToolbox
from cinatra_sdk.agents.shortening import AgentSummary
from cinatra_sdk.agents.step import AgentStep
from cinatra_sdk.flow.nodes.approved import ApprovedAgent
from cinatra_sdk.flow.nodes.subflow import Agent
from cinatra_sdk.flow.plan import NodeWork
from oas_compiler import ir
from oas_compiler.component.agent_words import ASK
from oas_compiler.ir import (
    AgentCallsNode,
    AgentModelNode,
    AgentNode,
    AgentShortenNode,
    RemoteAgentNode,
)
from oas_compiler.lower.registry import PlanSite, plain_ports


def lower_agent(site: PlanSite) -> NodeWork:
    node = site.node
    if isinstance(node, AgentModelNode):
        return _lower_model(node)
    if isinstance(node, AgentCallsNode):
        return AgentCalls(
            model=node.model,
            tools=_list_tools(node.tools),
            toolboxes=_list_toolboxes(node.toolboxes),
            results=plain_ports(node.results),
        )
    if isinstance(node, AgentShortenNode):
        return _lower_shortening(node)
    if isinstance(node, RemoteAgentNode):
        way = RemoteAgentWay(url=node.url, settings=node.settings, headers=node.headers)
        return RemoteAgentTalk(way=way, results=plain_ports(node.results), message=node.message)
    assert isinstance(node, AgentNode)
    kind = ApprovedAgent if node.behind.asks_person else Agent
    return kind(flow=site.inside[0], alone=node.is_apart)


def _lower_model(node: AgentModelNode) -> AgentStep:
    return AgentStep(
        prompt=node.system_prompt,
        llm=node.llm_config,
        tools=_list_tools(node.tools),
        toolboxes=_list_toolboxes(node.toolboxes),
        shortened_by=node.shortened_by,
        results=plain_ports(node.results),
        message=node.message,
        greeting=(ASK, node.greeting) if node.greeting else None,
        optional=(ASK,),
        first_turn=node.first_turn,
        attached=node.attached,
    )


def _lower_shortening(node: AgentShortenNode) -> AgentSummary:
    return AgentSummary(
        llm=node.llm_config,
        instructions=node.instructions,
        template=node.template,
        most_size=node.most_size,
        most_messages=node.most_messages,
        most_characters=node.most_characters,
        keep=node.keep,
        shortened_by=node.shortened_by,
    )


def _list_tools(tools: tuple[ir.AgentTool, ...]) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(
            name=tool.name,
            description=tool.description,
            node=tool.node,
            inputs=plain_ports(tool.inputs),
            outputs=plain_ports(tool.outputs),
            hands_over=tool.hands_over,
        )
        for tool in tools
    )


def _list_toolboxes(boxes: tuple[ir.AgentToolbox, ...]) -> tuple[OfferedToolbox, ...]:
    return tuple(OfferedToolbox(lists=box.lists, calls=box.calls) for box in boxes)

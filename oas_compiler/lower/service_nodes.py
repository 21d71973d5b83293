"""Lowers nodes that ask models, tools, servers and agents."""

from __future__ import annotations

from cinatra_sdk.agents.model_step import AgentStep
from cinatra_sdk.agents.summaries import AgentSummary
from cinatra_sdk.agents.tool_calls import AgentCalls
from cinatra_sdk.agents.tool_offers import OfferedTool, OfferedToolbox
from cinatra_sdk.flow.nodes.a2a_node import RemoteAgentTalk
from cinatra_sdk.flow.nodes.failure_nodes import TellsErrors
from cinatra_sdk.flow.nodes.llm_node import LlmMessages, LlmQuestion, ModelChoice
from cinatra_sdk.flow.nodes.mcp_tool_node import McpToolCall
from cinatra_sdk.flow.nodes.subflow_node import Agent, ApprovedAgent
from cinatra_sdk.flow.nodes.tool_node import ClientTool, ToolCall
from cinatra_sdk.flow.nodes.toolbox_node import McpToolList, Signature
from cinatra_sdk.flow.plan.plan import NodeWork
from cinatra_sdk.outside.a2a.remote_agent import RemoteAgentWay
from cinatra_sdk.outside.mcp.server import McpWay
from oas_compiler import ir
from oas_compiler.component_facts.component import ASK
from oas_compiler.ir import (
    AgentCallsNode,
    AgentModelNode,
    AgentNode,
    AgentShortenNode,
    ClientToolNode,
    ExtendedLlmNode,
    LlmNode,
    McpListNode,
    McpToolNode,
    RemoteAgentNode,
    RemoteToolNode,
)
from oas_compiler.kinds.plugin_choice import PluginChoiceNode
from oas_compiler.kinds.tool import tells_errors
from oas_compiler.lower.node_functions import PlanSite, plain_ports
from oas_compiler.lower.plain_nodes import lower_remote_tool


def lower_llm(site: PlanSite) -> LlmQuestion:
    node = site.node
    assert isinstance(node, LlmNode)
    if isinstance(node, ExtendedLlmNode):
        return LlmMessages(
            prompt=node.prompt_template,
            llm=node.llm_config,
            before=node.before,
            says=node.says,
            first_turn=node.first_turn,
            attached=node.attached,
        )
    return LlmQuestion(
        prompt=node.prompt_template,
        llm=node.llm_config,
        first_turn=node.first_turn,
        attached=node.attached,
    )


def lower_choice(site: PlanSite) -> ModelChoice:
    node = site.node
    assert isinstance(node, PluginChoiceNode)
    return ModelChoice(
        prompt=node.prompt_template,
        llm=node.llm_config,
        choices=node.choices,
        most_tokens=node.most_tokens,
    )


# ----------------------------------------------------------------------------
# ToolNode over each kind of tool, and the nodes of an agent's toolboxes.


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


# ----------------------------------------------------------------------------
# AgentNode, and the nodes of an agent's own flow.


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

"""AgentNode, and the nodes of an agent's own flow."""

from __future__ import annotations

from cinatra_sdk.agents.calls import CallsSettings, make_agent_calls
from cinatra_sdk.agents.offered import OfferedTool, OfferedToolbox
from cinatra_sdk.agents.shortening import Seen, Shortening, make_shortening
from cinatra_sdk.agents.step import AgentSettings, make_agent_step
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.names import channel_of
from cinatra_sdk.flow.nodes.approved import make_approved
from cinatra_sdk.flow.nodes.subflow import make_subflow
from oas_compiler import ir
from oas_compiler.component.agent_words import ASK
from oas_compiler.ir import (
    AgentCallsNode,
    AgentModelNode,
    AgentNode,
    AgentShortenNode,
    RemoteAgentNode,
)
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.nodes.llm import make_render, read_model_settings
from oas_compiler.lower.nodes.remote_agent import lower_remote_agent
from oas_compiler.lower.registry import LoweringSite


def lower_agent(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    if isinstance(node, AgentModelNode):
        return _lower_model(site, node)
    if isinstance(node, AgentCallsNode):
        settings = CallsSettings(
            model=node.model,
            tools=_list_tools(node.tools),
            toolboxes=_list_toolboxes(node.toolboxes),
            results=node.results,
        )
        return make_agent_calls(frame, settings)
    if isinstance(node, AgentShortenNode):
        seen = _list_shortenings(site, node.shortened_by)
        return make_shortening(frame, _read_shortening(site, node), seen)
    if isinstance(node, RemoteAgentNode):
        return lower_remote_agent(site, node)
    assert isinstance(node, AgentNode)
    inner = lower_inner(site, node.subflow, frame.path, as_graph=True, alone=node.is_apart)
    if node.behind.asks_person:
        return make_approved(frame, inner, agent=node.subflow.name, name=node.name)
    return make_subflow(frame, inner)


def _lower_model(site: LoweringSite, node: AgentModelNode) -> NodeBody:
    settings = AgentSettings(
        render=make_render(site.frame, node.system_prompt, "system prompt"),
        model=read_model_settings(site, node.llm_config),
        tools=_list_tools(node.tools),
        toolboxes=_list_toolboxes(node.toolboxes),
        shortenings=_list_shortenings(site, node.shortened_by),
        results=node.results,
        message=node.message,
        greeting=(ASK, node.greeting) if node.greeting else None,
        optional=(ASK,),
    )
    return make_agent_step(site.frame, settings)


def _list_tools(tools: tuple[ir.AgentTool, ...]) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(
            name=tool.name,
            description=tool.description,
            node=tool.node,
            inputs=tool.inputs,
            outputs=tool.outputs,
            hands_over=tool.hands_over,
        )
        for tool in tools
    )


def _list_toolboxes(boxes: tuple[ir.AgentToolbox, ...]) -> tuple[OfferedToolbox, ...]:
    return tuple(OfferedToolbox(lists=box.lists, calls=box.calls) for box in boxes)


def _list_shortenings(site: LoweringSite, ids: tuple[str, ...]) -> tuple[Seen, ...]:
    found: list[Seen] = []
    for node_id in ids:
        node = site.flow.by_id[node_id]
        assert isinstance(node, AgentShortenNode)
        found.append(Seen(channel=channel_of(node_id), shortening=_read_shortening(site, node)))
    return tuple(found)


def _read_shortening(site: LoweringSite, node: AgentShortenNode) -> Shortening:
    render = make_render(site.frame, node.template, "template of the summary")
    return Shortening(
        model=read_model_settings(site, node.llm_config),
        instructions=node.instructions,
        format_summary=lambda summary: render({"summary": summary}),
        most_size=node.most_size,
        most_messages=node.most_messages,
        most_characters=node.most_characters,
        keep=node.keep,
    )

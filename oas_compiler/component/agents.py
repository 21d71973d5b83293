"""An agent as a flow: its model, its calls, and one node for each of its tools.

    start → model → calls → search ─┐        a call of the tool "search", then the next call
              ↑        │  ↖─────────┘
              └─again──┤
                       └─next→ end           the model has no more calls

So every question to the model and every call of a tool is a visit of a node, with its own key, event,
checkpoint and confirmation, like any other node of a flow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.component.agent import LoadedAgent, LoadedTool
from oas_compiler.component.component import Component
from oas_compiler.component.inference import template_inputs
from oas_compiler.component.requests import report_retry_policy
from oas_compiler.component.site import Site, label_of
from oas_compiler.ir import AgentTool, DataEdge, FlowIR, Json, Node, Port, Route

START: Final = "start"
MODEL: Final = "model"
CALLS: Final = "calls"
END: Final = "end"
ASK: Final = "ask_user"
"""The tool by which a model asks a person."""
SUBMIT: Final = "submit_result"
"""The tool by which a model gives the outputs of its agent."""
AGAIN: Final = "again"
MESSAGE: Final = "user_message"
"""The input of an agent that takes what its caller says."""
_RESERVED: Final = frozenset({START, MODEL, CALLS, END, ASK, SUBMIT, AGAIN, "next"})
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
"""Providers of models refuse other letters in the name of a tool."""
_LONGEST_NAME: Final = 64

BuildTool = Callable[[Site], Node]


def build_agent_flow(site: Site, agent: LoadedAgent, build_tool: BuildTool) -> FlowIR:
    """The flow of the agent that the node at `site` runs; build_tool: makes the node of a tool."""
    component = agent.component
    place = site.place(component.pointer)
    asked = _read_inputs(site, agent)
    if site.is_alone and all(port.title != MESSAGE for port in asked):
        asked = (*asked, _make_message_port(place))
    results = site.declared("outputs", component) or ()
    tools = list(_build_tools(site, agent, build_tool))
    if _asks_people(agent) and all(tool.name != ASK for tool, _ in tools):
        tools.append(_make_question(place))
    offered = tuple(tool for tool, _ in tools)
    model = ir.AgentModelNode(
        id=MODEL,
        name=component.name,
        inputs=asked,
        outputs=(Port(title="answer", place=place),),
        place=place,
        system_prompt=_join_prompts(agent),
        llm_config=_read_model(site, agent),
        tools=offered,
        results=results,
        message=MESSAGE if any(port.title == MESSAGE for port in asked) else "",
    )
    calls = ir.AgentCallsNode(
        id=CALLS,
        name="Calls",
        outputs=(*_list_arguments(offered), *results),
        branches=(*(tool.node for tool in offered), AGAIN, "next"),
        place=place,
        model=MODEL,
        tools=offered,
        results=results,
    )
    nodes = (
        ir.StartNode(id=START, name="Start", inputs=asked, outputs=asked, place=place),
        model,
        calls,
        *(node for _, node in tools),
        ir.EndNode(id=END, name="End", inputs=results, outputs=results, branches=(), place=place),
    )
    return FlowIR(
        id=component.id,
        name=component.name,
        description=component.text("description"),
        inputs=asked,
        outputs=results,
        start=START,
        nodes=nodes,
        routes=tuple(_list_routes(offered)),
        data_edges=tuple(_list_data_edges(asked, offered, results)),
        place=place,
    )


def _list_routes(tools: tuple[AgentTool, ...]) -> Iterator[Route]:
    yield Route(source=START, branch="next", target=MODEL)
    yield Route(source=MODEL, branch="next", target=CALLS)
    for tool in tools:
        yield Route(source=CALLS, branch=tool.node, target=tool.node)
        yield Route(source=tool.node, branch="next", target=CALLS)
    yield Route(source=CALLS, branch=AGAIN, target=MODEL)
    yield Route(source=CALLS, branch="next", target=END)


def _list_data_edges(
    asked: tuple[Port, ...], tools: tuple[AgentTool, ...], results: tuple[Port, ...]
) -> Iterator[DataEdge]:
    for port in asked:
        yield DataEdge(source=START, output=port.title, target=MODEL, input=port.title)
    for tool in tools:
        for port in tool.inputs:
            title = f"{tool.node}.{port.title}"
            yield DataEdge(source=CALLS, output=title, target=tool.node, input=port.title)
    for port in results:
        yield DataEdge(source=CALLS, output=port.title, target=END, input=port.title)


def _list_arguments(tools: tuple[AgentTool, ...]) -> Iterator[Port]:
    for tool in tools:
        for port in tool.inputs:
            yield replace(port, title=f"{tool.node}.{port.title}")


# ---------------------------------------------------------------------- what the agent is told


def _read_inputs(site: Site, agent: LoadedAgent) -> tuple[Port, ...]:
    ports = {p.title: p for p in template_inputs(site, "system_prompt", of=agent.component)}
    if agent.special is not None:
        more = template_inputs(site, "additional_instructions", of=agent.special)
        ports = {**{port.title: port for port in more}, **ports}
    return tuple(ports.values())


def _make_message_port(place: ir.Place) -> Port:
    schema = Json.of({"type": "string", "description": "What you say to the agent."})
    return Port(title=MESSAGE, type=ir.STRING, schema=schema, default=Json.of(""), place=place)


def _join_prompts(agent: LoadedAgent) -> str:
    more = "" if agent.special is None else agent.special.text("additional_instructions")
    return "\n\n".join(part for part in (agent.component.text("system_prompt"), more) if part)


def _asks_people(agent: LoadedAgent) -> bool:
    asks = agent.component.flag("human_in_the_loop", default=True)
    return asks if agent.special is None else agent.special.flag("human_in_the_loop", default=asks)


def _read_model(site: Site, agent: LoadedAgent) -> Json:
    if agent.model is None:
        return ir.NOTHING
    report_retry_policy(site, agent.model)
    return Json.of({"component_type": agent.model.type, **agent.model.fields})


# ---------------------------------------------------------------------- tools


def _build_tools(
    site: Site, agent: LoadedAgent, build_tool: BuildTool
) -> Iterator[tuple[AgentTool, Node]]:
    taken: dict[str, LoadedTool] = {}
    for tool in agent.tools:
        component = tool.component
        name = _NOT_IN_NAMES.sub("_", component.name)[:_LONGEST_NAME]
        if name in taken:
            site.findings.error(
                "OAS022",
                f'{label_of(agent.component)} has two tools with the name "{name}"',
                site.place(component.pointer),
                hint="the model tells tools apart by their names: give one another name",
            )
            continue
        taken[name] = tool
        if name == SUBMIT:
            site.findings.error(
                "OAS022",
                f'a tool of {label_of(agent.component)} has the name "{SUBMIT}", by which a model '
                "gives the outputs of its agent",
                site.place(component.pointer),
                hint="give the tool another name",
            )
        own = f"{name}_tool" if name in _RESERVED else name
        node = build_tool(_make_site(site, own, tool))
        offered = AgentTool(
            name=name,
            description=component.text("description"),
            node=own,
            inputs=node.inputs,
            outputs=node.outputs,
        )
        yield offered, node


def _make_site(site: Site, node_id: str, tool: LoadedTool) -> Site:
    """The surroundings of a ToolNode over the tool, which the file does not have."""
    component = tool.component
    node = Component(
        type="ToolNode",
        id=node_id,
        name=component.name,
        pointer=component.pointer,
        fields={"metadata": component.mapping("metadata")},
    )
    return replace(
        site,
        component=node,
        fields={},
        behind=component,
        agent=None,
        facts_behind=tool.facts,
        subflows=(),
        readable_subflows=(),
        unread=set(),
    )


def _make_question(place: ir.Place) -> tuple[AgentTool, Node]:
    text = Json.of({"type": "string"})
    question = Port(title="question", type=ir.STRING, schema=text, place=place)
    answer = Port(title="answer", type=ir.STRING, schema=text, place=place)
    offered = AgentTool(
        name=ASK,
        description="Ask the person whom you work for a question, and wait for the answer.",
        node=ASK,
        inputs=(question,),
        outputs=(answer,),
    )
    node = ir.ClientToolNode(
        id=ASK,
        name="Ask the user",
        inputs=(question,),
        outputs=(answer,),
        place=place,
        tool_name=ASK,
    )
    return offered, node

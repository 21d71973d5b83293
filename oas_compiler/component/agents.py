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
WORK: Final = "message"
"""The input of a worker that takes what its manager says."""
_TEXT: Final = Json.of({"type": "string"})
_RESERVED: Final = frozenset({START, MODEL, CALLS, END, ASK, SUBMIT, AGAIN, "next"})
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
"""Providers of models refuse other letters in the name of a tool."""
_LONGEST_NAME: Final = 64

BuildTool = Callable[[Site], Node]


def build_agent_flow(site: Site, agent: LoadedAgent, build_tool: BuildTool) -> FlowIR:
    """The flow of the agent that the node at `site` runs; build_tool: makes the node of a tool."""
    return _build_flow(site, agent, build_tool, boss=None)


def _build_flow(
    site: Site, agent: LoadedAgent, build_tool: BuildTool, *, boss: LoadedAgent | None
) -> FlowIR:
    """boss: the agent that it works for, which speaks to it and hears its answer."""
    component = agent.component
    place = site.place(component.pointer)
    asked = _read_inputs(site, agent)
    hears = WORK if boss is not None else MESSAGE if site.is_alone else ""
    if hears and all(port.title != hears for port in asked):
        asked = (*asked, _make_message_port(hears, place))
    results = site.declared("outputs", component) or ()
    if boss is not None and not results:
        results = (Port(title="answer", type=ir.STRING, schema=_TEXT, place=place),)
    built = [*_build_tools(site, agent, build_tool), *_build_workers(site, agent, build_tool)]
    tools = list(_list_named(site, agent, built))
    if boss is None and _asks_people(agent) and all(tool.name != ASK for tool, _ in tools):
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
        message=hears if any(port.title == hears for port in asked) else "",
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


def _make_message_port(title: str, place: ir.Place) -> Port:
    """A caller may say nothing; who gives out work says what it is."""
    schema = Json.of({"type": "string", "description": "What you say to the agent."})
    default = Json.of("") if title == MESSAGE else None
    return Port(title=title, type=ir.STRING, schema=schema, default=default, place=place)


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
    for tool in agent.tools:
        component = tool.component
        name = _make_name(component)
        node = build_tool(_make_site(site, _make_id(name), tool))
        yield _offer(name, component, node), node


def _build_workers(
    site: Site, agent: LoadedAgent, build_tool: BuildTool
) -> Iterator[tuple[AgentTool, Node]]:
    """A worker is a tool of its manager: it takes a message, and its answer is the result."""
    for worker in agent.workers:
        name = _make_name(worker.shown)
        flow = _build_flow(site, worker, build_tool, boss=agent)
        node = ir.AgentNode(
            id=_make_id(name),
            name=worker.shown.name,
            inputs=flow.inputs,
            outputs=flow.outputs,
            place=site.place(worker.shown.pointer),
            subflow=flow,
            is_apart=True,
        )
        yield _offer(name, worker.shown, node), node


def _make_name(component: Component) -> str:
    return _NOT_IN_NAMES.sub("_", component.name)[:_LONGEST_NAME]


def _make_id(name: str) -> str:
    return f"{name}_tool" if name in _RESERVED else name


def _offer(name: str, component: Component, node: Node) -> AgentTool:
    return AgentTool(
        name=name,
        description=component.text("description"),
        node=node.id,
        inputs=node.inputs,
        outputs=node.outputs,
    )


def _list_named(
    site: Site, agent: LoadedAgent, tools: list[tuple[AgentTool, Node]]
) -> Iterator[tuple[AgentTool, Node]]:
    """The tools that the model can tell apart by their names; the others are reported."""
    taken: set[str] = set()
    label = label_of(agent.shown)
    for tool, node in tools:
        problem = ""
        if tool.name in taken:
            problem = f'{label} has two tools with the name "{tool.name}"'
        elif tool.name == SUBMIT:
            problem = f'a tool of {label} has the name "{SUBMIT}", by which a model gives results'
        taken.add(tool.name)
        if problem:
            hint = "give the tool another name, which the model sees"
            site.findings.error("OAS022", problem, node.place, hint=hint)
        else:
            yield tool, node


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
    question = Port(title="question", type=ir.STRING, schema=_TEXT, place=place)
    answer = Port(title="answer", type=ir.STRING, schema=_TEXT, place=place)
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

"""What the model of an agent may call: its tools, its workers, and a person.

ServerTool "search"    ->  AgentTool(name="search", node="search"), ToolNode("search")
the worker "Finder"    ->  AgentTool(name="Finder", node="Finder"), AgentNode("Finder")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.component.agent import Loaded, LoadedAgent, LoadedTool
from oas_compiler.component.agent_words import (
    AGAIN,
    ASK,
    CALLS,
    END,
    MODEL,
    SHORTEN,
    START,
    SUBMIT,
    TEXT,
)
from oas_compiler.component.component import Component
from oas_compiler.component.site import Site, label_of
from oas_compiler.ir import AgentTool, FlowIR, Node, Port

_RESERVED: Final = frozenset({START, SHORTEN, MODEL, CALLS, END, ASK, SUBMIT, AGAIN, "next"})
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
"""Providers of models refuse other letters in the name of a tool."""
_LONGEST_NAME: Final = 64

BuildTool = Callable[[Site], Node]
BuildWorker = Callable[[Loaded], FlowIR]
Made = tuple[AgentTool, Node | None]
"""A tool, with the node that runs it; `None`: a node that the flow has already."""


def build_tools(
    site: Site, agent: LoadedAgent, build_tool: BuildTool, prefix: str = ""
) -> Iterator[Made]:
    """The tools of the agent; prefix: of the ids of their nodes."""
    return build_tool_nodes(site, agent.tools, build_tool, prefix)


def build_tool_nodes(
    site: Site, tools: Iterable[LoadedTool], build_tool: BuildTool, prefix: str
) -> Iterator[Made]:
    for tool in tools:
        component = tool.component
        name = make_name(component.name)
        node = build_tool(_make_site(site, _make_id(name, prefix), tool))
        yield _offer(name, component, node), node


def build_workers(
    site: Site, agent: LoadedAgent, build_worker: BuildWorker, prefix: str = ""
) -> Iterator[Made]:
    """The agents that it may give work to: each takes a message, and its answer is the result."""
    for worker in agent.workers:
        name = make_name(worker.shown.name)
        flow = build_worker(worker)
        node = ir.AgentNode(
            id=_make_id(name, prefix),
            name=worker.shown.name,
            inputs=flow.inputs,
            outputs=flow.outputs,
            place=site.place(worker.shown.pointer),
            subflow=flow,
            is_apart=True,
            behind=_read_worker_facts(worker),
        )
        yield _offer(name, worker.shown, node), node


def build_flow_tools(site: Site, agent: LoadedAgent, prefix: str = "") -> Iterator[Made]:
    """The flows that it may run: their inputs are the arguments, their outputs the result."""
    for loaded in agent.flows:
        assert site.build_flow is not None  # every builder of agents is given it
        flow = site.build_flow(loaded)
        name = make_name(loaded.component.name)
        node = ir.AgentNode(
            id=_make_id(name, prefix),
            name=loaded.component.name,
            inputs=flow.inputs,
            outputs=flow.outputs,
            place=site.place(loaded.component.pointer),
            subflow=flow,
        )
        yield _offer(name, loaded.component, node), node


def _read_worker_facts(worker: Loaded) -> ir.Behind:
    inside = (worker.component,) if isinstance(worker, LoadedAgent) else ()
    asks = any(requires_approval(one) for one in (worker.shown, *inside))
    return ir.Behind(asks_person=True) if asks else ir.NO_BEHIND


def requires_approval(agent: Component) -> bool:
    """Whether a person has to approve before the agent works."""
    return agent.cinatra.get("requiresApproval") is True


def build_question(site: Site, agent: LoadedAgent, prefix: str = "") -> Iterator[Made]:
    """The question to a person, for an agent that may ask one."""
    asks = agent.component.flag("human_in_the_loop", default=True)
    asks = asks and agent.component.fields.get("caller_input_mode") != "never"
    if agent.special is not None:
        asks = agent.special.flag("human_in_the_loop", default=asks)
    if not asks:
        return
    place = site.place(agent.component.pointer)
    question = Port(title="question", type=ir.STRING, schema=TEXT, place=place)
    answer = Port(title="answer", type=ir.STRING, schema=TEXT, place=place)
    node = ir.ClientToolNode(
        id=f"{prefix}{ASK}",
        name="Ask the user",
        inputs=(question,),
        outputs=(answer,),
        place=place,
        tool_name=ASK,
    )
    offered = AgentTool(
        name=ASK,
        description="Ask the person whom you work for a question, and wait for the answer.",
        node=node.id,
        inputs=(question,),
        outputs=(answer,),
    )
    yield offered, node


def name_apart(
    site: Site, agent: LoadedAgent, tools: Iterable[Made], own: Iterable[Made]
) -> tuple[Made, ...]:
    """The tools that the model can tell apart by their names; others of the author are reported.

    own: tools of ours, which give way to those of the author.
    """
    found: list[Made] = []
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
            place = site.place(agent.shown.pointer) if node is None else node.place
            hint = "give the tool another name, which the model sees"
            site.findings.error("OAS022", problem, place, hint=hint)
        else:
            found.append((tool, node))
    return (*found, *(made for made in own if made[0].name not in taken))


def make_name(text: str) -> str:
    """A name that every provider takes."""
    return _NOT_IN_NAMES.sub("_", text)[:_LONGEST_NAME]


def _make_id(name: str, prefix: str = "") -> str:
    return f"{prefix}{name}_tool" if name in _RESERVED else f"{prefix}{name}"


def _offer(name: str, component: Component, node: Node) -> AgentTool:
    return AgentTool(
        name=name,
        description=component.text("description"),
        node=node.id,
        inputs=node.inputs,
        outputs=node.outputs,
    )


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

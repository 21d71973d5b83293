"""One agent inside a flow: its model, its calls, and one node for each of its tools.

             ↗ search ↘
    model → calls ←────┘      a call of the tool "search", then the next call
      ↑       │
      └─again─┤
              ├─hand over→    the model of another agent of the flow
              └─next→ end     the model has no more calls

So every question to the model and every call of a tool is a visit of a node, with its own key, event,
checkpoint and confirmation, like any other node of a flow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from oas_compiler import ir
from oas_compiler.component.agent import LoadedAgent
from oas_compiler.component.agent_toolboxes import MadeToolbox
from oas_compiler.component.agent_transforms import build_transforms
from oas_compiler.component.agent_words import AGAIN, ASK, CALLS, END, MODEL, START
from oas_compiler.component.attached import KEY as ATTACHMENTS
from oas_compiler.component.attached import attached_input, read_attached
from oas_compiler.component.first_turn import KEY, named_inputs, read_first_turn
from oas_compiler.component.inference import template_inputs
from oas_compiler.component.requests import report_retry_policy
from oas_compiler.component.site import Site
from oas_compiler.ir import AgentTool, DataEdge, Json, Node, Port, Route

_NO_GREETING: Final = "N/A"
"""WayFlow's word for an agent without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPart:
    """The nodes of one agent, and the ways among them."""

    prefix: str
    """Of the ids of its nodes; empty where the agent is alone in its flow."""
    model: ir.AgentModelNode
    calls: ir.AgentCallsNode
    tools: tuple[Node, ...]
    toolboxes: tuple[MadeToolbox, ...] = ()
    transforms: tuple[ir.AgentShortenNode, ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        calling = (box.calls for box in self.toolboxes)
        return (*self.lists, *self.transforms, self.model, self.calls, *self.tools, *calling)

    @property
    def lists(self) -> tuple[Node, ...]:
        """The nodes that run once, before any agent of the flow works."""
        return tuple(box.lists for box in self.toolboxes)

    @property
    def entry(self) -> str:
        """Where the agent begins to work."""
        return self.transforms[0].id if self.transforms else self.model.id

    def list_routes(self) -> Iterator[Route]:
        calls = self.calls.id
        before = [*(node.id for node in self.transforms), self.model.id]
        for source, target in pairwise(before):
            yield Route(source=source, branch="next", target=target)
        yield Route(source=self.model.id, branch="next", target=calls)
        for tool in self.calls.tools:
            yield Route(source=calls, branch=tool.node, target=tool.node)
            if not tool.hands_over:
                yield Route(source=tool.node, branch="next", target=calls)
        for box in self.toolboxes:
            yield Route(source=calls, branch=box.calls.id, target=box.calls.id)
            yield Route(source=box.calls.id, branch="next", target=calls)
        yield Route(source=calls, branch=AGAIN, target=self.entry)
        yield Route(source=calls, branch="next", target=END)

    def list_data_edges(self) -> Iterator[DataEdge]:
        for port in self.model.inputs:
            yield DataEdge(source=START, output=port.title, target=self.model.id, input=port.title)
        takers = [(tool.node, tool.inputs) for tool in self.calls.tools]
        takers += [(box.calls.id, box.calls.inputs) for box in self.toolboxes]
        for node, ports in takers:
            for port in ports:
                title = f"{node}.{port.title}"
                yield DataEdge(source=self.calls.id, output=title, target=node, input=port.title)
        for port in self.calls.results:
            yield DataEdge(source=self.calls.id, output=port.title, target=END, input=port.title)


def build_part(
    site: Site,
    agent: LoadedAgent,
    tools: tuple[tuple[AgentTool, Node | None], ...],
    *,
    inputs: tuple[Port, ...],
    results: tuple[Port, ...],
    toolboxes: tuple[MadeToolbox, ...] = (),
    message: str = "",
    prefix: str = "",
) -> AgentPart:
    """The agent inside the flow of the node at `site`.

    tools:   what its model may call, each with the node that is made for it; `None`: the flow has
             the node already.
    inputs:  those of the agent.
    message: the input with what the caller says.
    """
    place = site.place(agent.component.pointer)
    transforms = tuple(build_transforms(site, agent, prefix))
    offered = tuple(tool for tool, _ in tools)
    boxes = tuple(box.offered for box in toolboxes)
    model = ir.AgentModelNode(
        id=f"{prefix}{MODEL}",
        name=agent.component.name,
        inputs=inputs,
        outputs=(Port(title="answer", place=place),),
        place=place,
        system_prompt=_join_prompts(agent),
        llm_config=_read_model(site, agent),
        tools=offered,
        toolboxes=boxes,
        results=results,
        message=message,
        greeting=_read_greeting(agent, offered, f"{prefix}{ASK}"),
        shortened_by=tuple(node.id for node in transforms),
        first_turn=_read_first_turn(site, agent, inputs),
        attached=_read_attached(site, agent, inputs),
    )
    calls = ir.AgentCallsNode(
        id=f"{prefix}{CALLS}",
        name="Calls",
        outputs=(*_list_arguments(offered, toolboxes), *results),
        branches=(
            *(tool.node for tool in offered),
            *(box.calls for box in boxes),
            AGAIN,
            "next",
        ),
        place=place,
        model=model.id,
        tools=offered,
        toolboxes=boxes,
        results=results,
    )
    made = tuple(node for _, node in tools if node is not None)
    return AgentPart(
        prefix=prefix,
        model=model,
        calls=calls,
        tools=made,
        toolboxes=toolboxes,
        transforms=transforms,
    )


def read_inputs(site: Site, agent: LoadedAgent) -> tuple[Port, ...]:
    """The placeholders of the agent's prompt."""
    ports = {p.title: p for p in template_inputs(site, "system_prompt", of=agent.component)}
    if agent.special is not None:
        more = template_inputs(site, "additional_instructions", of=agent.special)
        ports = {**{port.title: port for port in more}, **ports}
    return tuple(ports.values())


def _read_first_turn(
    site: Site, agent: LoadedAgent, inputs: tuple[Port, ...]
) -> tuple[str, str] | None:
    """As the AgentNode says for an agent that has its inputs, else as the agent itself says."""
    titles = {port.title for port in inputs}
    for component in (site.component, agent.shown, agent.component):
        if component.cinatra.get(KEY) is None:
            continue
        is_own = component is agent.component or component is agent.shown
        if is_own or named_inputs(component) & titles:
            return read_first_turn(site, component, inputs)
    return None


def _read_attached(site: Site, agent: LoadedAgent, inputs: tuple[Port, ...]) -> str:
    """By the same rule as `_read_first_turn`."""
    titles = {port.title for port in inputs}
    for component in (site.component, agent.shown, agent.component):
        if component.cinatra.get(ATTACHMENTS) is None:
            continue
        is_own = component is agent.component or component is agent.shown
        if is_own or attached_input(component) & titles:
            return read_attached(site, component, inputs)
    return ""


def _read_greeting(agent: LoadedAgent, offered: tuple[AgentTool, ...], ask: str) -> str:
    """What the agent asks where nobody has spoken; ask: the node by which it may ask a person."""
    greeting = agent.component.text("initial_message")
    may_ask = any(tool.node == ask for tool in offered)
    return greeting if may_ask and greeting != _NO_GREETING else ""


def _list_arguments(
    tools: tuple[AgentTool, ...], toolboxes: tuple[MadeToolbox, ...]
) -> Iterator[Port]:
    takers = [(tool.node, tool.inputs) for tool in tools]
    takers += [(box.calls.id, box.calls.inputs) for box in toolboxes]
    for node, ports in takers:
        for port in ports:
            yield replace(port, title=f"{node}.{port.title}")


def _join_prompts(agent: LoadedAgent) -> str:
    more = "" if agent.special is None else agent.special.text("additional_instructions")
    return "\n\n".join(part for part in (agent.component.text("system_prompt"), more) if part)


def _read_model(site: Site, agent: LoadedAgent) -> Json:
    if agent.model is None:
        return ir.NOTHING
    report_retry_policy(site, agent.model)
    return Json.of({"component_type": agent.model.type, **agent.model.fields})

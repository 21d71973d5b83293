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

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import ir
from oas_compiler.component_facts.component import (
    AGAIN,
    ASK,
    CALLS,
    END,
    MODEL,
    SHORTEN,
    START,
    SUBMIT,
    TEXT,
    Component,
    Loaded,
    LoadedAgent,
    LoadedTool,
    LoadedToolbox,
    LoadedTransform,
    Site,
    label_of,
)
from oas_compiler.component_facts.inference import template_inputs
from oas_compiler.component_facts.metadata import ATTACHMENTS_KEY as ATTACHMENTS
from oas_compiler.component_facts.metadata import (
    FIRST_TURN_KEY,
    attached_input,
    named_inputs,
    read_attached,
    read_first_turn,
)
from oas_compiler.component_facts.requests import read_mcp_retry, read_server, report_retry_policy
from oas_compiler.findings.finding import describe
from oas_compiler.ir import AgentTool, AgentToolbox, DataEdge, FlowIR, Json, Node, Port, Route

# ----------------------------------------------------------------------------
# The transforms of an agent as nodes before its model.
#
# ConversationSummarizationTransform    ->  AgentShortenNode("shorten", most_messages=50, keep=10, …)
#
# Source of the usual numbers and words: the package of Agent Spec.


_INSTRUCTIONS: Final = (
    "Summarize what follows in a few sentences. Keep what matters for going on. Answer with the summary "
    "alone: it takes the place of the original."
)
_OF_MESSAGE: Final = "Summarized message: {{summary}}"
_OF_CONVERSATION: Final = "Summarized conversation: {{summary}}"
_MOST_SIZE: Final = 20_000
_MOST_MESSAGES: Final = 50
_KEEP: Final = 10


def build_transforms(
    site: Site, agent: LoadedAgent, prefix: str = ""
) -> Iterator[ir.AgentShortenNode]:
    """prefix: of the ids of the nodes."""
    before: list[str] = []
    for number, transform in enumerate(agent.transforms, 1):
        node_id = f"{prefix}{SHORTEN}" if number == 1 else f"{prefix}{SHORTEN}_{number}"
        yield _build_transform(site, transform, node_id, tuple(before))
        before.append(node_id)


def _build_transform(
    site: Site, transform: LoadedTransform, node_id: str, before: tuple[str, ...]
) -> ir.AgentShortenNode:
    component = transform.component
    of_message = component.type == "MessageSummarizationTransform"
    template = "summarized_message_template" if of_message else "summarized_conversation_template"
    usual = _OF_MESSAGE if of_message else _OF_CONVERSATION
    return ir.AgentShortenNode(
        id=node_id,
        name=component.name,
        place=site.place(component.pointer),
        instructions=component.text("summarization_instructions") or _INSTRUCTIONS,
        template=component.text(template) or usual,
        llm_config=_read_model(site, transform),
        most_size=_read_number(site, transform, "max_message_size", _MOST_SIZE)
        if of_message
        else None,
        most_messages=None
        if of_message
        else _read_number(site, transform, "max_num_messages", _MOST_MESSAGES),
        most_characters=_read_number(site, transform, "max_num_characters", None),
        keep=_read_number(site, transform, "min_num_messages", _KEEP) or _KEEP,
        shortened_by=before,
    )


def _read_model(site: Site, transform: LoadedTransform) -> Json:
    if transform.model is None:
        return ir.NOTHING
    report_retry_policy(site, transform.model)
    return Json.of({"component_type": transform.model.type, **transform.model.fields})


def _read_number(
    site: Site, transform: LoadedTransform, name: str, usual: int | None
) -> int | None:
    """A whole number above 0; null means that there is no bound where the file says null."""
    component = transform.component
    if name not in component.fields:
        return usual
    value = component.fields[name]
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    site.findings.error(
        "OAS022",
        f"{name} of {label_of(component)} must be a whole number above 0, not {describe(value)}",
        site.place(component.at(name)),
    )
    return usual


# ----------------------------------------------------------------------------
# What the model of an agent may call: its tools, its workers, and a person.
#
# ServerTool "search"    ->  AgentTool(name="search", node="search"), ToolNode("search")
# the worker "Finder"    ->  AgentTool(name="Finder", node="Finder"), AgentNode("Finder")


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


# ----------------------------------------------------------------------------
# The toolboxes of an agent: one node that lists the tools of a server, one that calls them.
#
# MCPToolBox "shop"    ->  McpListNode("shop.list"), McpToolNode("shop.call")


TOOL = "tool"
ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToolbox:
    """The nodes of one toolbox."""

    lists: ir.McpListNode
    calls: ir.McpToolNode
    tools: tuple[Made, ...]
    """Tools that the file describes, with nodes of their own."""

    @property
    def offered(self) -> AgentToolbox:
        return AgentToolbox(lists=self.lists.id, calls=self.calls.id)


def build_toolboxes(
    site: Site, agent: LoadedAgent, build_tool: BuildTool, prefix: str = ""
) -> Iterator[MadeToolbox]:
    """prefix: of the ids of the nodes."""
    taken: set[str] = set()
    for box in agent.toolboxes:
        name = make_name(box.component.id or box.component.name)
        number = 1 + sum(one == name or one.startswith(f"{name}_") for one in taken)
        name = name if number == 1 else f"{name}_{number}"
        taken.add(name)
        yield _build_toolbox(site, box, build_tool, prefix, f"{prefix}{name}")


def _build_toolbox(
    site: Site, box: LoadedToolbox, build_tool: BuildTool, prefix: str, name: str
) -> MadeToolbox:
    component = box.component
    place = site.place(component.pointer)
    server, retry = read_server(component), read_mcp_retry(site, component)
    tools = tuple(build_tool_nodes(site, box.described, build_tool, prefix))
    return MadeToolbox(
        lists=ir.McpListNode(
            id=f"{name}.list",
            name=f"Tools of {component.name}",
            outputs=(Port(title="tools", place=place),),
            place=place,
            server=server,
            retry=retry,
            names=box.names,
            signatures=tuple(tool for tool, _ in tools),
        ),
        calls=ir.McpToolNode(
            id=f"{name}.call",
            name=component.name,
            inputs=(
                Port(title=TOOL, type=ir.STRING, schema=Json.of({"type": "string"}), place=place),
                Port(title=ARGUMENTS, place=place),
            ),
            outputs=(Port(title="result", place=place),),
            risk_class=box.facts.risk_class,
            place=place,
            tool_name="",
            server=server,
            retry=retry,
            behind=box.facts,
        ),
        tools=tools,
    )


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
        llm_config=_read_agent_model(site, agent),
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
        if component.cinatra.get(FIRST_TURN_KEY) is None:
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


def _read_agent_model(site: Site, agent: LoadedAgent) -> Json:
    if agent.model is None:
        return ir.NOTHING
    report_retry_policy(site, agent.model)
    return Json.of({"component_type": agent.model.type, **agent.model.fields})

"""An Agent, a Swarm or an A2AAgent as a flow.

an Agent   start → its part (agent_loop.py) → end
a Swarm    start → the part of its first agent ⇄ those of the agents that it hands over to → end
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import ir
from oas_compiler.component_facts.agent_loop import (
    AgentPart,
    BuildTool,
    Made,
    MadeToolbox,
    build_flow_tools,
    build_part,
    build_question,
    build_toolboxes,
    build_tools,
    build_workers,
    make_name,
    name_apart,
    read_inputs,
)
from oas_compiler.component_facts.component import (
    ASK,
    END,
    MODEL,
    SHORTEN,
    START,
    TEXT,
    Component,
    Loaded,
    LoadedAgent,
    LoadedRemoteAgent,
    LoadedSwarm,
    Site,
)
from oas_compiler.ir import AgentTool, DataEdge, FlowIR, Json, Port, Route, SealedJson

# ----------------------------------------------------------------------------
# An A2AAgent as a flow: the node that speaks to it, and the question of the agent to a person.
#
# start → agent → end
#           ↑ ↓ ask
#         ask_user


AGENT: Final = "agent"
BRANCH: Final = "ask"
_QUESTION: Final = "question"
_ANSWER: Final = "answer"
_KEPT: Final = ("timeout", "verify", "key_file", "cert_file", "ssl_ca_cert")


def build_remote_agent(
    site: Site,
    agent: LoadedRemoteAgent,
    *,
    inputs: tuple[Port, ...],
    results: tuple[Port, ...],
    message: str,
    asks: bool,
) -> FlowIR:
    """asks: whether a question of the agent goes to a person."""
    component = agent.shown
    place = site.place(component.pointer)
    question = Port(title=_QUESTION, type=ir.STRING, schema=TEXT, place=place)
    answer = Port(title=_ANSWER, type=ir.STRING, schema=TEXT, place=place)
    more = (replace(answer, default=Json.of("")),) if asks else ()
    node = ir.RemoteAgentNode(
        id=AGENT,
        name=component.name,
        inputs=(*inputs, *more),
        outputs=(*results, *((question,) if asks else ())),
        branches=(BRANCH, "next") if asks else ("next",),
        place=place,
        url=component.text("agent_url"),
        settings=_read_settings(component),
        headers=_read_headers(component),
        results=results,
        message=message,
    )
    asking = ir.ClientToolNode(
        id=ASK,
        name="Ask the user",
        inputs=(question,),
        outputs=(answer,),
        place=place,
        tool_name=ASK,
    )
    routes = [
        Route(source=START, branch="next", target=AGENT),
        Route(source=AGENT, branch="next", target=END),
    ]
    edges = [
        *(DataEdge(source=START, output=p.title, target=AGENT, input=p.title) for p in inputs),
        *(DataEdge(source=AGENT, output=p.title, target=END, input=p.title) for p in results),
    ]
    if asks:
        routes += [
            Route(source=AGENT, branch=BRANCH, target=ASK),
            Route(source=ASK, branch="next", target=AGENT),
        ]
        edges += [
            DataEdge(source=AGENT, output=_QUESTION, target=ASK, input=_QUESTION),
            DataEdge(source=ASK, output=_ANSWER, target=AGENT, input=_ANSWER),
        ]
    return FlowIR(
        id=component.id,
        name=component.name,
        description=component.text("description"),
        inputs=inputs,
        outputs=results,
        start=START,
        nodes=(
            ir.StartNode(id=START, name="Start", inputs=inputs, outputs=inputs, place=place),
            node,
            *((asking,) if asks else ()),
            ir.EndNode(
                id=END, name="End", inputs=results, outputs=results, branches=(), place=place
            ),
        ),
        routes=tuple(routes),
        data_edges=tuple(edges),
        place=place,
    )


def _read_settings(component: Component) -> Json:
    connection = component.mapping("connection_config")
    return Json.of(
        {
            "session": component.mapping("session_parameters"),
            "connection": {name: connection[name] for name in _KEPT if name in connection},
        }
    )


def _read_headers(component: Component) -> SealedJson:
    headers = component.mapping("connection_config").get("headers")
    return SealedJson(Json.of(headers if isinstance(headers, dict) else {}).text)


MESSAGE: Final = "user_message"
"""The input of an agent that takes what its caller says."""
WORK: Final = "message"
"""The input of a worker that takes what its manager says."""


def build_agent_flow(
    site: Site,
    agent: Loaded,
    build_tool: BuildTool,
    *,
    results: tuple[Port, ...] | None = None,
    asks: bool = True,
) -> FlowIR:
    """The flow of the agent that the node at `site` runs.

    build_tool: makes the node of a tool.
    results: what the agent has to give; `None`: what it declares.
    asks:    whether it may ask a person, if it says that it may.
    """
    builder = _Builder(site, build_tool, results, asks)
    return builder.build(agent, hears=MESSAGE if site.is_alone else "")


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds the flow of an agent, and those of its workers."""

    site: Site
    build_tool: BuildTool
    results: tuple[Port, ...] | None
    """Of the outermost agent; see `build_agent_flow`."""
    asks: bool

    def build(self, agent: Loaded, *, hears: str, works: bool = False) -> FlowIR:
        """hears: the input with what the caller says; works: the caller is another agent."""
        if isinstance(agent, LoadedSwarm):
            return self._build_swarm(agent, hears=hears, works=works)
        if isinstance(agent, LoadedRemoteAgent):
            asked = self.site.declared("inputs", agent.shown) or ()
            return build_remote_agent(
                self.site,
                agent,
                inputs=_add_message(asked, hears, self._place(agent.shown)),
                results=self._read_results(works, agent.shown),
                message=hears,
                asks=not works and self.asks,
            )
        inputs = _add_message(read_inputs(self.site, agent), hears, self._place(agent.shown))
        results = self._read_results(works, agent.shown, agent.component)
        part = self._build_part(agent, works=works, inputs=inputs, results=results, message=hears)
        return self._make_flow(agent.component, inputs, results, (part,))

    def _build_part(
        self,
        agent: LoadedAgent,
        handovers: Iterable[Made] = (),
        *,
        works: bool,
        inputs: tuple[Port, ...],
        results: tuple[Port, ...],
        message: str,
        prefix: str = "",
    ) -> AgentPart:
        boxes = tuple(build_toolboxes(self.site, agent, self.build_tool, prefix))
        tools = (*self._list_tools(agent, boxes, prefix), *handovers)
        own = () if works or not self.asks else tuple(build_question(self.site, agent, prefix))
        return build_part(
            self.site,
            agent,
            name_apart(self.site, agent, tools, own),
            inputs=inputs,
            results=results,
            toolboxes=boxes,
            message=message,
            prefix=prefix,
        )

    def _build_swarm(self, swarm: LoadedSwarm, *, hears: str, works: bool) -> FlowIR:
        prefixes = [f"{make_name(one.shown.name)}." for one in swarm.members]
        asked = [read_inputs(self.site, one) for one in swarm.members]
        asked[0] = _add_message(asked[0], hears, self._place(swarm.shown))
        results = self._read_results(works, swarm.shown)
        parts = [
            self._build_part(
                member,
                _list_handovers(swarm, index),
                works=works,
                inputs=asked[index],
                results=results,
                message=hears if index == 0 else "",
                prefix=prefixes[index],
            )
            for index, member in enumerate(swarm.members)
        ]
        inputs = {port.title: port for ports in reversed(asked) for port in ports}
        return self._make_flow(swarm.shown, tuple(inputs.values()), results, tuple(parts))

    def _list_tools(
        self, agent: LoadedAgent, boxes: tuple[MadeToolbox, ...], prefix: str
    ) -> Iterator[Made]:
        yield from build_tools(self.site, agent, self.build_tool, prefix)
        for box in boxes:
            yield from box.tools
        yield from build_flow_tools(self.site, agent, prefix)
        yield from build_workers(
            self.site,
            agent,
            lambda worker: self.build(worker, hears=WORK, works=True),
            prefix,
        )

    def _read_results(self, works: bool, *components: Component) -> tuple[Port, ...]:
        """What the first of the components declares; a worker always gives an answer."""
        if self.results is not None and not works:
            return self.results
        declared = (self.site.declared("outputs", one) for one in components)
        results = next((ports for ports in declared if ports), ())
        if works and not results:
            place = self._place(components[0])
            return (Port(title="answer", type=ir.STRING, schema=TEXT, place=place),)
        return results

    def _make_flow(
        self,
        shown: Component,
        inputs: tuple[Port, ...],
        results: tuple[Port, ...],
        parts: tuple[AgentPart, ...],
    ) -> FlowIR:
        place = self._place(shown)
        start = ir.StartNode(id=START, name="Start", inputs=inputs, outputs=inputs, place=place)
        end = ir.EndNode(
            id=END, name="End", inputs=results, outputs=results, branches=(), place=place
        )
        return FlowIR(
            id=shown.id,
            name=shown.name,
            description=shown.text("description"),
            inputs=inputs,
            outputs=results,
            start=START,
            nodes=(start, *(node for part in parts for node in part.nodes), end),
            routes=(
                *_chain(START, [node.id for part in parts for node in part.lists], parts[0].entry),
                *(route for part in parts for route in part.list_routes()),
            ),
            data_edges=tuple(edge for part in parts for edge in part.list_data_edges()),
            place=place,
        )

    def _place(self, component: Component) -> ir.Place:
        return self.site.place(component.pointer)


def _chain(first: str, between: list[str], last: str) -> Iterator[Route]:
    for source, target in pairwise((first, *between, last)):
        yield Route(source=source, branch="next", target=target)


def _list_handovers(swarm: LoadedSwarm, index: int) -> Iterator[Made]:
    for other in swarm.handovers[index]:
        member = swarm.members[other]
        component = member.shown
        entry = SHORTEN if member.transforms else MODEL
        description = component.text("description")
        yield (
            AgentTool(
                name=make_name(f"hand_over_to_{component.name}"),
                description=f"Let {component.name} go on in your place. {description}".strip(),
                node=f"{make_name(component.name)}.{entry}",
                hands_over=True,
            ),
            None,
        )


def _add_message(ports: tuple[Port, ...], title: str, place: ir.Place) -> tuple[Port, ...]:
    """A caller may say nothing; who gives out work says what it is."""
    if not title or any(port.title == title for port in ports):
        return ports
    schema = Json.of({"type": "string", "description": "What you say to the agent."})
    default = Json.of("") if title == MESSAGE else None
    more = Port(title=title, type=ir.STRING, schema=schema, default=default, place=place)
    return (*ports, more)

"""An agent of the file in, the agent with its model, tools, flows and workers out.

{"component_type": "Agent", "llm_config": {"$component_ref": "gpt"}, "tools": […], …}
    ->  spec.LoadedAgent(component=…, model=Component(type="OpenAiConfig", …), tools=(…))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from oas_compiler.component.agent import (
    Loaded,
    LoadedAgent,
    LoadedFlowTool,
    LoadedRemoteAgent,
    LoadedTool,
    LoadedToolbox,
    LoadedTransform,
)
from oas_compiler.component.component import Component
from oas_compiler.document.behind import BehindReader
from oas_compiler.document.components import ComponentReader
from oas_compiler.document.inside import read_facts
from oas_compiler.document.scope import Document, Located
from oas_compiler.document.swarm import SwarmReader, TooMany
from oas_compiler.document.toolboxes import read_toolbox
from oas_compiler.document.types import is_known
from oas_compiler.document.wrong_type import report_wrong_type
from oas_compiler.kinds.no_nodes import AGENTS, RUNNERS, TRANSFORMS
from oas_compiler.text.bounds import MAX_DEPTH, MAX_NODES
from oas_compiler.text.descriptions import describe

LoadFlow = Callable[[Located], LoadedFlowTool | None]


class AgentReader:
    """Opens the agents of one document."""

    def __init__(
        self,
        document: Document,
        components: ComponentReader,
        behind: BehindReader,
        load_flow: LoadFlow,
    ) -> None:
        self._document = document
        self._load_flow = load_flow
        self._components = components
        self._behind = behind
        self._agents: dict[str, Loaded | None] = {}
        self._open: set[str] = set()
        """Pointers of the agents that are being read."""

    def read(self, target: Located) -> Loaded | None:
        """The agent at `target`; `None` where it cannot be read, which was reported."""
        pointer = target.pointer
        if pointer in self._open:
            self._document.findings.error(
                "OAS015",
                f"the {target.component_type} works for itself",
                self._document.source.place(pointer),
                hint="a group and its workers stand inside each other in one way only",
            )
            return None
        if len(self._open) >= MAX_DEPTH:
            self._document.findings.error(
                "OAS016",
                f"groups stand inside each other deeper than {MAX_DEPTH} levels",
                self._document.source.place(pointer),
            )
            return None
        if pointer not in self._agents:
            self._open.add(pointer)
            self._agents[pointer] = self._read_new(target.component_type, target)
            self._open.remove(pointer)
        return self._agents[pointer]

    def _read_new(self, component_type: str, target: Located) -> Loaded | None:
        inside = self._document.enter(target)
        match component_type:
            case "SpecializedAgent":
                return self._read_special(inside)
            case "ManagerWorkers":
                return self._read_group(inside)
            case "A2AAgent":
                return self._read_remote(inside)
            case "Swarm":
                return self._read_swarm(inside)
        return self._read_extended(inside)

    def _read_extended(self, at: Located) -> Loaded | None:
        """An agent with those that it may give work to, which only WayFlow's have."""
        agent = self._read_agent(at)
        workers = self._read_workers(agent.component, "agents", at)
        flows = tuple(self._read_flows(agent.component, at))
        if not workers and not flows:
            return agent
        made = replace(agent, workers=workers, flows=flows)
        return self._keep_small(agent.component, made)

    def _read_flows(self, agent: Component, at: Located) -> Iterator[LoadedFlowTool]:
        for target, pointer in self._locate_entries(agent, "flows", "a flow", at):
            if target.component_type != "Flow":
                report_wrong_type(self._document, pointer, "a flow of an agent", "a Flow", target)
                continue
            flow = self._load_flow(target)
            if flow is not None:
                yield flow

    def _read_agent(self, at: Located) -> LoadedAgent:
        component = self._components.read(at)
        return LoadedAgent(
            component=component,
            model=self._behind.load_model(component, at),
            tools=tuple(self._read_tools(component, "tools", at)),
            toolboxes=tuple(self._read_toolboxes(component, at)),
            transforms=tuple(self._read_transforms(component, at)),
            shown=component,
        )

    def _read_group(self, at: Located) -> Loaded | None:
        """The manager, with the workers that it has."""
        group = self._components.read(at)
        manager = self._behind.locate(group, "group_manager", at)
        found = None if manager is None else self._read_member(manager, "group_manager", group)
        more = self._read_workers(group, "workers", at)
        if found is None or manager is None:
            return None
        if not isinstance(found, LoadedAgent):
            pointer = group.at("group_manager")
            report_wrong_type(self._document, pointer, '"group_manager"', "an Agent", manager)
            return None
        made = replace(found, shown=group, workers=(*found.workers, *more))
        return self._keep_small(group, made)

    def _read_workers(self, group: Component, field: str, at: Located) -> tuple[Loaded, ...]:
        found = []
        for index, entry in enumerate(group.items(field) or ()):
            pointer = f"{group.at(field)}/{index}"
            worker = self._document.locate(Located(entry, pointer, at.scope))
            if worker is not None:
                found.append(self._read_member(worker, f"{field}/{index}", group))
        return tuple(worker for worker in found if worker is not None)

    def _read_remote(self, at: Located) -> LoadedRemoteAgent | None:
        component = self._components.read(at)
        target = self._locate(component, "connection_config", "A2AConnectionConfig", at)
        if target is None:
            return None
        connection = self._components.read(self._document.enter(target))
        fields = {**component.fields, "connection_config": dict(connection.fields)}
        return LoadedRemoteAgent(shown=replace(component, fields=fields))

    def _read_swarm(self, at: Located) -> Loaded | None:
        swarm = self._components.read(at)
        try:
            made = SwarmReader(self._document, swarm, at, self._read_member).read()
        except TooMany:
            return self._keep_small(swarm, None)
        return None if made is None else self._keep_small(swarm, made)

    def _keep_small(self, group: Component, made: Loaded | None) -> Loaded | None:
        """made: `None` where the group is known to be too large."""
        if made is not None and made.size <= MAX_NODES:
            return made
        counted = "" if made is None else f" {made.size:,} nodes with its workers expanded,"
        self._document.findings.error(
            "OAS021",
            f"the group has{counted or ' too many nodes with its workers expanded,'} at most "
            f"{MAX_NODES:,} are read",
            self._document.source.place(group.pointer),
            hint="let fewer agents ask each other",
        )
        return None

    def _read_member(self, member: Located, field: str, group: Component) -> Loaded | None:
        if member.component_type in AGENTS:
            return self.read(member)
        if is_known(member.component_type) and member.component_type not in RUNNERS:
            pointer = f"{group.pointer}/{field}"
            report_wrong_type(self._document, pointer, f'"{field}"', "an Agent", member)
        return None

    def _read_special(self, at: Located) -> LoadedAgent | None:
        component = self._components.read(at)
        base = self._locate(component, "agent", "Agent", at, or_types=("ExtendedAgent",))
        parameters = self._locate(
            component, "agent_specialization_parameters", "AgentSpecializationParameters", at
        )
        if base is None or parameters is None:
            return None
        agent = self._read_agent(self._document.enter(base))
        inside = self._document.enter(parameters)
        special = self._components.read(inside)
        more = tuple(self._read_tools(special, "additional_tools", inside))
        return LoadedAgent(
            component=agent.component,
            special=special,
            model=agent.model,
            tools=(*agent.tools, *more),
            toolboxes=agent.toolboxes,
            transforms=agent.transforms,
            shown=component,
        )

    def _locate(
        self,
        component: Component,
        name: str,
        component_type: str,
        at: Located,
        *,
        or_types: tuple[str, ...] = (),
    ) -> Located | None:
        target = self._behind.locate(component, name, at)
        pointer = f"{component.pointer}/{name}"
        if target is not None and target.component_type not in (component_type, *or_types):
            wanted = f"an {component_type}"
            report_wrong_type(self._document, pointer, f'"{name}"', wanted, target)
            return None
        return target

    def _read_tools(self, component: Component, name: str, at: Located) -> Iterator[LoadedTool]:
        for target, pointer in self._locate_entries(component, name, "a tool", at):
            tool = self._behind.open_tool(target, pointer)
            if tool is not None:
                yield LoadedTool(component=tool, facts=read_facts(target))

    def _read_toolboxes(self, component: Component, at: Located) -> Iterator[LoadedToolbox]:
        for target, pointer in self._locate_entries(component, "toolboxes", "a toolbox", at):
            if target.component_type == "MCPToolBox":
                box = read_toolbox(self._document, self._components, self._behind, target)
                if box is not None:
                    yield box
            elif is_known(target.component_type) or not target.component_type:
                report_wrong_type(self._document, pointer, "a toolbox", "an MCPToolBox", target)

    def _read_transforms(self, component: Component, at: Located) -> Iterator[LoadedTransform]:
        for target, pointer in self._locate_entries(component, "transforms", "a transform", at):
            if target.component_type in TRANSFORMS:
                inside = self._document.enter(target)
                found = self._components.read(inside)
                model = self._behind.load_model(found, inside, "llm")
                yield LoadedTransform(component=found, model=model)
            elif is_known(target.component_type) or not target.component_type:
                wanted = "a ConversationSummarizationTransform"
                report_wrong_type(self._document, pointer, "a transform", wanted, target)

    def _locate_entries(
        self, component: Component, name: str, what: str, at: Located
    ) -> Iterator[tuple[Located, str]]:
        """The components of a list, each with the pointer of its entry."""
        for index, entry in enumerate(component.items(name) or ()):
            pointer = f"{component.at(name)}/{index}"
            if not isinstance(entry, dict):
                self._document.findings.error(
                    "OAS022",
                    f"an entry of {name} must be {what} or a $component_ref, not {describe(entry)}",
                    self._document.source.place(pointer),
                )
                continue
            target = self._document.locate(Located(entry, pointer, at.scope))
            if target is not None:
                yield target, pointer

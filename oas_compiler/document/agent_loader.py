"""An agent of the file in, the agent with its model, tools, flows and workers out.

{"component_type": "Agent", "llm_config": {"$component_ref": "gpt"}, "tools": […], …}
    ->  spec.LoadedAgent(component=…, model=Component(type="OpenAiConfig", …), tools=(…))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from oas_compiler.component_facts.agent_loop import make_name, requires_approval
from oas_compiler.component_facts.component import (
    Component,
    Loaded,
    LoadedAgent,
    LoadedFlowTool,
    LoadedRemoteAgent,
    LoadedSwarm,
    LoadedTool,
    LoadedToolbox,
    LoadedTransform,
    label_of,
)
from oas_compiler.document.component_types import is_known, report_wrong_type
from oas_compiler.document.components import BehindReader, ComponentReader, read_facts
from oas_compiler.document.scope import Document, Located
from oas_compiler.findings.finding import describe
from oas_compiler.ir import Behind, JsonValue
from oas_compiler.kinds.registry import AGENTS, RUNNERS, TRANSFORMS
from oas_compiler.text.input_bounds import MAX_DEPTH, MAX_NODES

# ----------------------------------------------------------------------------
# A Swarm of the file in; out: its agents, each with the agents that it may ask or hand over to.
#
#     handoff: never       ->  the first agent, to which the others are workers
#     handoff: always      ->  agents that hand over to each other
#     handoff: optional    ->  both
#
# An agent that another one asks may ask the same agents as always, except those that wait for its answer.  So
# agents that may speak to each other cannot ask each other without end.


_MODES: Final[Mapping[JsonValue, str]] = {
    None: "optional",
    True: "optional",
    False: "never",
    "never": "never",
    "optional": "optional",
    "always": "always",
}
"""The first drafts have a flag."""

ReadMember = Callable[[Located, str, Component], Loaded | None]
"""The agent at a place; its field in a component, for errors."""


class TooMany(Exception):
    """A group has more nodes than are read."""


class SwarmReader:
    """Reads one Swarm."""

    def __init__(
        self, document: Document, swarm: Component, at: Located, read_member: ReadMember
    ) -> None:
        self._document = document
        self._swarm = swarm
        self._at = at
        self._read_member = read_member
        self._members: dict[str, Loaded] = {}
        """By their pointers."""
        self._ways: dict[str, list[str]] = {}
        """From each member those to which it may speak."""

    def read(self) -> Loaded | None:
        """`None` where it cannot be read, which was reported."""
        mode = self._read_mode()
        first = self._locate(self._at.value, "first_agent")
        sound = self._read_relationships()
        if first is None or not sound or not mode:
            return None
        self._add(first, "first_agent")
        if first.pointer not in self._members:
            return None
        reached = self._list_reached(first.pointer)
        if not self._are_names_apart(reached):
            return None
        if mode == "never":
            only = self._members[first.pointer]
            if not isinstance(only, LoadedAgent):
                return only
            return replace(only, shown=self._swarm, workers=self._list_workers(first.pointer))
        return self._make_swarm(reached, asks=mode == "optional")

    def _make_swarm(self, reached: list[str], *, asks: bool) -> LoadedSwarm | None:
        members: list[LoadedAgent] = []
        for pointer in reached:
            member = self._members[pointer]
            if not isinstance(member, LoadedAgent):
                self._report(
                    f'"{member.shown.name}" is no agent that another can hand over to',
                    "relationships",
                    'use an Agent, or "handoff": "never"',
                )
                return None
            if requires_approval(member.component):
                self._report_approval(member.component)
            workers = self._list_workers(pointer) if asks else member.workers
            members.append(replace(member, workers=workers))
        numbers = {pointer: number for number, pointer in enumerate(reached)}
        return LoadedSwarm(
            shown=self._swarm,
            members=tuple(members),
            handovers=tuple(
                tuple(numbers[other] for other in self._ways.get(pointer, ()))
                for pointer in reached
            ),
        )

    def _list_workers(self, pointer: str) -> tuple[Loaded, ...]:
        """Those that the member may give work to, with their own."""
        left = MAX_NODES

        def find(pointer: str, waiting: tuple[str, ...]) -> Iterator[Loaded]:
            nonlocal left
            for other in self._ways.get(pointer, ()):
                if other in waiting:
                    continue
                member = self._members[other]
                left -= member.size
                if left < 0:
                    raise TooMany
                if isinstance(member, LoadedAgent):
                    more = tuple(find(other, (*waiting, other)))
                    member = replace(member, workers=(*member.workers, *more))
                yield member

        member = self._members[pointer]
        own = member.workers if isinstance(member, LoadedAgent) else ()
        return (*own, *find(pointer, (pointer,)))

    # ------------------------------------------------------------------ what the file says

    def _read_mode(self) -> str:
        value = self._swarm.fields.get("handoff")
        mode = _MODES.get(value) if isinstance(value, (str, bool, type(None))) else None
        if mode is None:
            shown = f'"{value[:80]}"' if isinstance(value, str) else describe(value)
            self._report(f"handoff is {shown}", "handoff", 'write "never", "optional" or "always"')
        return mode or ""

    def _read_relationships(self) -> bool:
        """Whether each is a pair of agents."""
        sound = True
        for index, pair in enumerate(self._swarm.items("relationships") or ()):
            at = f"relationships/{index}"
            if not isinstance(pair, list) or len(pair) != 2:
                self._report(
                    f"an entry of relationships must be a list of two agents, not {describe(pair)}",
                    at,
                    "write [the agent that speaks, the agent that is spoken to]",
                )
                sound = False
                continue
            ends = [self._locate(pair, str(side), at) for side in (0, 1)]
            for side, end in enumerate(ends):
                if end is not None:
                    self._add(end, f"{at}/{side}")
            pointers = [end.pointer for end in ends if end is not None]
            if len(pointers) != 2 or not all(one in self._members for one in pointers):
                sound = False
            elif pointers[0] == pointers[1]:
                self._report("an agent has a relationship to itself", at, "remove the pair")
                sound = False
            elif pointers[1] not in self._ways.setdefault(pointers[0], []):
                self._ways[pointers[0]].append(pointers[1])
        return sound

    def _locate(self, value: object, key: str, at: str = "") -> Located | None:
        given = value[int(key)] if isinstance(value, list) else None
        given = value.get(key) if isinstance(value, dict) else given
        field = f"{at}/{key}" if at else key
        if given is None:
            return None  # a required field, which is reported
        pointer = f"{self._swarm.pointer}/{field}"
        target = self._document.locate(Located(given, pointer, self._at.scope))
        if target is not None and not target.component_type:
            report_wrong_type(self._document, pointer, f'"{field}"', "an Agent", target)
            return None
        return target

    def _add(self, target: Located, field: str) -> None:
        if target.pointer not in self._members:
            member = self._read_member(target, field, self._swarm)
            if member is not None:
                self._members[target.pointer] = member

    def _list_reached(self, first: str) -> list[str]:
        found = [first]
        for pointer in found:
            found += [one for one in self._ways.get(pointer, ()) if one not in found]
        return found

    def _are_names_apart(self, reached: list[str]) -> bool:
        taken: set[str] = set()
        for pointer in reached:
            shown = self._members[pointer].shown
            name = make_name(shown.name)
            if name in taken:
                self._report(
                    f'{label_of(self._swarm)} has two agents with the name "{name}"',
                    "relationships",
                    "give one of them another name, which the models see",
                )
                return False
            taken.add(name)
        return True

    def _report_approval(self, agent: Component) -> None:
        self._document.findings.error(
            "OAS022",
            f"{label_of(agent)} requires approval, and others of its Swarm hand over to it without",
            self._document.source.place(agent.at("metadata")),
            hint="require the approval of the AgentNode over the Swarm, or of the agent's tools",
        )

    def _report(self, problem: str, field: str, hint: str) -> None:
        place = self._document.source.place(f"{self._swarm.pointer}/{field}")
        self._document.findings.error("OAS022", problem, place, hint=hint)


# ----------------------------------------------------------------------------
# An MCPToolBox of the file in, the box with its transport and the tools that it offers out.
#
# {"component_type": "MCPToolBox", "tool_filter": ["search", {"component_type": "MCPToolSpec", …}], …}
#     ->  LoadedToolbox(names=("search",), described=(…,))


def read_toolbox(
    document: Document, components: ComponentReader, behind: BehindReader, target: Located
) -> LoadedToolbox | None:
    """`None` where it cannot be read, which was reported."""
    inside = document.enter(target)
    box = behind.open_transport(components.read(inside), target)
    if box is None:
        return None
    facts = read_facts(target)
    entries = box.items("tool_filter")
    names: list[str] = []
    described: list[LoadedTool] = []
    for index, entry in enumerate(entries or ()):
        pointer = f"{box.at('tool_filter')}/{index}"
        if isinstance(entry, str):
            names.append(entry)
        elif isinstance(entry, dict):
            spec = document.locate(Located(entry, pointer, inside.scope))
            if spec is None:
                continue
            if spec.component_type != "MCPToolSpec":
                wanted = "a name or an MCPToolSpec"
                report_wrong_type(document, pointer, "an entry of tool_filter", wanted, spec)
                continue
            described.append(_make_tool(components.read(spec), box, facts, read_facts(spec)))
        else:
            document.findings.error(
                "OAS022",
                f"an entry of tool_filter must be a name or an MCPToolSpec, not {describe(entry)}",
                document.source.place(pointer),
            )
    return LoadedToolbox(
        component=box,
        facts=facts,
        names=None if entries is None else tuple(names),
        described=tuple(described),
    )


def _make_tool(spec: Component, box: Component, of_box: Behind, own: Behind) -> LoadedTool:
    """The tool by itself: a box that asks a person asks for each of its tools."""
    shared = {
        name: box.fields[name] for name in ("client_transport", "retry_policy") if box.has(name)
    }
    tool = replace(
        spec,
        type="MCPTool",
        fields={**spec.fields, **shared},
        places={**spec.places, "client_transport": box.at("client_transport")},
    )
    facts = Behind(
        risk_class=own.risk_class or of_box.risk_class,
        asks_person=own.asks_person or of_box.asks_person,
    )
    return LoadedTool(component=tool, facts=facts)


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

"""A document -> typed flows with resolved references.

    {"component_type": "Flow", "nodes": [{"$component_ref": "start"}], …}
        ->  LoadedFlow(nodes=(Component(type="StartNode", id="start", …),), control=(…), …)

Flows are followed through the nodes that run them; a flow of several nodes is loaded once.  An
unreadable part is reported and leaves a gap, so that no other finding reports it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import Component, Loaded, with_article
from oas_compiler.document.component_types import (
    can_be_node,
    can_stand_alone,
    is_known,
    is_misspelt,
    report_no_component,
    report_wrong_type,
)
from oas_compiler.document.components import (
    USUAL_FLOW_FIELDS,
    BehindReader,
    ComponentReader,
    is_inside_unread,
    list_members,
    read_behind,
    reference_hint,
)
from oas_compiler.document.scope import Document, Located
from oas_compiler.findings.finding import describe
from oas_compiler.ir import Behind, Gap
from oas_compiler.kinds.registry import AGENT_TYPES, AGENTS, find_kind
from oas_compiler.text.input_bounds import MAX_DEPTH, MAX_NODES

if TYPE_CHECKING:
    from oas_compiler.document.agent_loader import AgentReader

# ----------------------------------------------------------------------------
# The wire model of a flow: its nodes and edges, with their references resolved.
#
# `LoadedFlow`, which this module makes and `build.py` reads.


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEdge:
    source: str
    """Id of a node."""
    branch: str
    target: str
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLink:
    source: str
    output: str
    target: str
    input: str
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedFlow:
    """A Flow component with its nodes and edges; references to other flows are followed."""

    component: Component
    start: Component | None
    """`start_node`; `None` when it is missing or wrong, which was reported."""
    nodes: tuple[Component, ...]
    control: tuple[ControlEdge, ...]
    data: tuple[DataLink, ...] | None
    """`None`: outputs feed inputs of the same name (Agent Spec's null)."""
    subflows: Mapping[str, tuple[LoadedFlow, ...]]
    """By the id of a node: the flows it runs that could be loaded.  A gap of the kind "inside"
    says that the node runs something else, or more.
    """
    behind: Mapping[str, Component]
    """By the id of a node in `nodes`: the tool or agent that it runs, if that is no flow."""
    facts_behind: Mapping[str, Behind]
    """By the id of a node in `nodes`: facts about the tool or agent that it runs, of any type."""
    agents: Mapping[str, Loaded]
    """By the id of a node: the agent that it runs, if that could be loaded."""
    gaps: tuple[Gap, ...]
    """Nodes and edges that could not be read."""
    is_alone: bool = False
    """Whether the document is no flow, but the one node that is here."""


def load(document: Document) -> LoadedFlow | None:
    """The root flow; `None` when the document has none or is too large, with findings."""
    root = document.root
    if root is None:
        return None
    if not root.component_type:
        report_no_component(document, root)
        return None
    if root.component_type == "Flow":
        flow = _Loader(document).flow(root, ())
    elif can_stand_alone(root.component_type):
        flow = _Loader(document).load_alone(root)
    else:
        return None  # one finding of supported_kinds.py (or survey.py) says what it is instead
    return flow if flow is not None and _fits_node_limit(flow, document) else None


def _fits_node_limit(flow: LoadedFlow, document: Document) -> bool:
    """Whether the flow with all its subflows expanded stays within bounds."""
    sizes: dict[int, int] = {}

    def size(current: LoadedFlow) -> int:
        if id(current) not in sizes:
            below = sum(size(flow) for flows in current.subflows.values() for flow in flows)
            sizes[id(current)] = len(current.nodes) + below
        return sizes[id(current)]

    if size(flow) <= MAX_NODES:
        return True
    _report_size(document, flow.component.pointer, size(flow))
    return False


def _report_size(document: Document, pointer: str, size: int) -> None:
    document.findings.error(
        "OAS021",
        f"the flow has {size:,} nodes with its subflows expanded, at most {MAX_NODES:,} are read",
        document.source.place(pointer),
    )


class _Loader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._findings = document.findings
        self._components = ComponentReader(document)
        self._flows: dict[str, LoadedFlow] = {}
        self._behind = BehindReader(document, self._components)

    @cached_property
    def _agents(self) -> AgentReader:
        # Imported late: most files have no agent.
        from oas_compiler.document.agent_loader import AgentReader

        return AgentReader(
            self._document, self._components, self._behind, lambda target: self.flow(target, ())
        )

    # ------------------------------------------------------------------ flows

    def flow(self, located: Located, around: tuple[str, ...]) -> LoadedFlow | None:
        """Load a flow; `around` are the pointers of the flows that it stands in."""
        if located.pointer in self._flows:
            return self._flows[located.pointer]
        located = self._document.enter(located)
        component = self._components.read(located)
        gaps: list[Gap] = []
        nodes = self._load_nodes(component, located, gaps)
        if len(nodes) > MAX_NODES:
            _report_size(self._document, component.pointer, len(nodes))
            return None
        start = self._find_node(component, "start_node", located)
        inside = (*around, located.pointer)
        control = tuple(self._control(component, located, gaps))
        data = self._load_data_edges(component, located, gaps)
        flow = LoadedFlow(
            component=component,
            start=start,
            nodes=tuple(node for node, _ in nodes),
            control=control,
            data=data,
            subflows={
                node.id: flows
                for node, at in nodes
                if (flows := self._load_subflows(node, at, inside, gaps))
            },
            behind={
                node.id: found
                for node, at in nodes
                if (found := self._load_behind(node, at)) is not None
            },
            agents={
                node.id: agent
                for node, at in nodes
                if (agent := self._load_agent(node, at)) is not None
            },
            facts_behind={node.id: read_behind(self._document, at) for node, at in nodes},
            gaps=tuple(gaps),
        )
        self._flows[located.pointer] = flow
        return flow

    def load_alone(self, root: Located) -> LoadedFlow:
        """A node or an agent that is a document by itself, as a flow of one node."""
        at = self._document.enter(root)
        component = self._components.read(at)
        own = component.id or component.name or component.type
        node = replace(component, id=own)
        agents: dict[str, Loaded] = {}
        gaps: list[Gap] = []
        if component.type in AGENTS:
            node = Component(
                type="AgentNode", id=own, name=node.name, pointer=node.pointer, fields={}
            )
            agent = self._agents.read(root)
        else:
            agent = self._load_agent(node, at)
        if agent is not None:
            agents[own] = agent
        behind = self._load_behind(node, at)
        return LoadedFlow(
            component=Component(
                type="Flow", id=own, name=node.name, pointer=node.pointer, fields={}
            ),
            start=None,
            nodes=(node,),
            control=(),
            data=(),
            subflows={own: self._load_subflows(node, at, (), gaps)},
            behind={} if behind is None else {own: behind},
            agents=agents,
            facts_behind={own: read_behind(self._document, at)},
            gaps=tuple(gaps),
            is_alone=True,
        )

    def _load_behind(self, node: Component, at: Located) -> Component | None:
        """The tool, agent or model that a node runs."""
        kind = find_kind(node.type)
        match kind.behind if kind is not None else "":
            case "tool":
                return self._behind.load_tool(node, at)
            case "llm_config":
                return self._behind.load_model(node, at)
        return None

    def _load_subflows(
        self, node: Component, at: Located, around: tuple[str, ...], gaps: list[Gap]
    ) -> tuple[LoadedFlow, ...]:
        """The flows that a node runs and that can be loaded; a gap for those that cannot."""
        flows = [self._load_subflow(node, field, around) for field in self._flow_fields(node, at)]
        if None in flows or is_inside_unread(self._document, at):
            gaps.append(Gap(kind="inside", source=node.id))
        return tuple(flow for flow in flows if flow is not None)

    def _flow_fields(self, node: Component, at: Located) -> Iterator[Located | None]:
        """Where a node names the flows that it runs; `None` for what was reported."""
        kind = find_kind(node.type)
        if not isinstance(at.value, dict):
            return
        if kind is None or kind.fields is None:
            fields = list_members(at, USUAL_FLOW_FIELDS)
            yield from (field for field in fields if self._is_flow(field))
            return
        for name in kind.flows:
            if kind.fields[name].kind == "list":
                yield from self._iterate_entries(node, name, at)
            elif node.has(name):
                field = Located(at.value[name], f"{node.pointer}/{name}", at.scope)
                if kind.behind != name or self._is_flow(field):
                    yield field

    def _is_flow(self, field: Located) -> bool:
        target = self._document.locate(field)
        return target is not None and target.component_type == "Flow"

    def _load_subflow(
        self, node: Component, field: Located | None, around: tuple[str, ...]
    ) -> LoadedFlow | None:
        target = self._document.locate(field) if field is not None else None
        if field is None or target is None:
            return None
        place = self._document.source.place(field.pointer)
        if target.component_type != "Flow":
            report_wrong_type(self._document, field.pointer, "a subflow", "a Flow", target)
        elif target.pointer in around:
            self._findings.error(
                "OAS015",
                f'the {node.type} "{node.id}" runs the flow that it stands in',
                place,
                hint="lead a control edge back instead, or run another flow",
            )
        elif len(around) >= MAX_DEPTH:
            self._findings.error(
                "OAS016", f"flows stand inside each other deeper than {MAX_DEPTH} levels", place
            )
        else:
            return self.flow(target, around)
        return None

    def _load_agent(self, node: Component, at: Located) -> Loaded | None:
        """The agent that a node runs."""
        node_kind = find_kind(node.type)
        if node_kind is None or node_kind.behind != "agent":
            return None
        target = self._behind.locate(node, "agent", at)
        if target is None or target.component_type == "Flow":
            return None
        kind = target.component_type
        if kind not in AGENT_TYPES and is_known(kind):
            report_wrong_type(
                self._document, f"{node.pointer}/agent", "an agent", "an Agent or a Flow", target
            )
        return self._agents.read(target) if kind in AGENTS else None

    def _load_nodes(
        self, flow: Component, located: Located, gaps: list[Gap]
    ) -> list[tuple[Component, Located]]:
        nodes: list[tuple[Component, Located]] = []
        seen: set[str] = set()
        for item in self._iterate_entries(flow, "nodes", located):
            target = self._document.locate(item) if item is not None else None
            if item is None or target is None:
                gaps.append(Gap(kind="node"))
                continue
            if not can_be_node(target):
                report_wrong_type(
                    self._document, item.pointer, "an entry of nodes", "a node", target
                )
                gaps.append(Gap(kind="node"))
                continue
            component = self._components.read(self._document.enter(target))
            if is_misspelt(target):  # it may be a StartNode, an EndNode or a gate
                gaps.append(Gap(kind="node", source=component.id))
            if target.pointer in seen:
                if not self._document.is_cinatra:  # a rule of Cinatra's own refuses it there
                    self._findings.warning(
                        "OAS028",
                        f'the node "{component.id}" is listed twice; it counts once',
                        self._document.source.place(item.pointer),
                        hint="remove the second entry",
                    )
                continue
            seen.add(target.pointer)
            nodes.append((component, self._document.enter(target)))
        return nodes

    # ------------------------------------------------------------------ edges

    def _control(self, flow: Component, located: Located, gaps: list[Gap]) -> Iterator[ControlEdge]:
        for found in self._iterate_edges(
            flow, "control_flow_connections", "ControlFlowEdge", located
        ):
            if found is None:
                gaps.append(Gap(kind="route"))
                continue
            edge, at = found
            source = self._find_node(edge, "from_node", at)
            target = self._find_node(edge, "to_node", at)
            readable = _is_read(edge, "from_branch", at)
            branch = edge.text("from_branch", "next") if readable else ""
            if source is not None and target is not None and readable:
                yield ControlEdge(
                    source=source.id, branch=branch, target=target.id, pointer=edge.pointer
                )
            else:
                gaps.append(
                    Gap(
                        kind="route",
                        source=_read_id(source),
                        branch=branch,
                        target=_read_id(target),
                    )
                )

    def _load_data_edges(
        self, flow: Component, located: Located, gaps: list[Gap]
    ) -> tuple[DataLink, ...] | None:
        if not flow.has("data_flow_connections"):
            if not _is_read(flow, "data_flow_connections", located):
                gaps.append(Gap(kind="data"))
            return None
        links: list[DataLink] = []
        for found in self._iterate_edges(flow, "data_flow_connections", "DataFlowEdge", located):
            if found is None:
                gaps.append(Gap(kind="data"))
                continue
            edge, at = found
            source = self._find_node(edge, "source_node", at)
            target = self._find_node(edge, "destination_node", at)
            named = edge.has("source_output") and edge.has("destination_input")
            into = edge.text("destination_input")
            if source is not None and target is not None and named:
                links.append(
                    DataLink(
                        source=source.id,
                        output=edge.text("source_output"),
                        target=target.id,
                        input=into,
                        pointer=edge.pointer,
                    )
                )
            else:
                gaps.append(Gap(kind="data", target=_read_id(target), input=into))
        return tuple(links)

    def _iterate_edges(
        self, flow: Component, field: str, kind: str, located: Located
    ) -> Iterator[tuple[Component, Located] | None]:
        """The edges of a list; `None` for each that cannot be read, which was reported."""
        for item in self._iterate_entries(flow, field, located):
            target = self._document.locate(item) if item is not None else None
            if item is None or target is None:
                yield None
            elif target.component_type != kind:
                where = f"an entry of {field}"
                report_wrong_type(
                    self._document, item.pointer, where, with_article(kind), target, edge=kind
                )
                yield None
            else:
                yield self._components.read(target), target

    # ------------------------------------------------------------------ members

    def _find_node(self, component: Component, name: str, at: Located) -> Component | None:
        """The node that a field leads to."""
        target = self._behind.locate(component, name, at)
        if target is None:
            return None
        if not can_be_node(target):
            pointer = f"{component.pointer}/{name}"
            report_wrong_type(self._document, pointer, f'"{name}"', "a node", target)
            return None
        opened = self._components.read(target)
        return opened if opened.id else None

    def _iterate_entries(
        self, component: Component, name: str, at: Located
    ) -> Iterator[Located | None]:
        """Entries of a list field; `None` for one that is no object, or for a missing list."""
        pointer = component.at(name)
        entries = component.items(name)
        if entries is None:
            yield None
        for index, entry in enumerate(entries or ()):
            if isinstance(entry, dict):
                yield Located(entry, f"{pointer}/{index}", at.scope)
                continue
            self._findings.error(
                "OAS022",
                f"an entry of {name} must be a component or a $component_ref, "
                f"not {describe(entry)}",
                self._document.source.place(f"{pointer}/{index}"),
                hint=reference_hint(entry, at.scope) if isinstance(entry, str) else "",
            )
            yield None


def _read_id(node: Component | None) -> str:
    return node.id if node is not None else ""


def _is_read(component: Component, name: str, at: Located) -> bool:
    """Whether a field is as written: it may be absent or null, but was not refused."""
    written = at.value.get(name) if isinstance(at.value, dict) else None
    return written is None or component.has(name)

"""A loaded flow in, `FlowIR` out: every inference and implicit edge made explicit.

    data_flow_connections: null     ->  a DataEdge for every output and equally named input
    an EndNode output without edge  ->  a DataEdge from the StartNode's input of that name, in a
                                        file of Cinatra

Findings are recorded on the way; the result is complete enough to be checked in any case.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from oas_compiler import ir
from oas_compiler.component_facts.component import Component, Site
from oas_compiler.component_facts.port_reader import PortReader
from oas_compiler.document.flow_loader import LoadedFlow, load
from oas_compiler.document.scope import Document
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import NO_BEHIND, DataEdge, FlowIR, Gap, Json, Node, Port, Route
from oas_compiler.kinds.kind import UNKNOWN, build_unknown
from oas_compiler.kinds.registry import build_node, find_kind
from oas_compiler.templates import TemplateReader
from oas_compiler.text.input_bounds import MAX_DATA_EDGES
from oas_compiler.text.source import read_source

# ----------------------------------------------------------------------------
# A node that stands alone in its document, as a flow: start → node → end.
#
# LlmNode("ask", inputs=("topic",), outputs=("text",))  ->  a flow with the input topic and the output text


def wrap_node(node: Node) -> FlowIR:
    """The flow whose inputs and outputs are those of the node; each of its branches ends the flow."""
    start = ir.StartNode(
        id=_choose_id("start", node),
        name="Start",
        inputs=node.inputs,
        outputs=node.inputs,
        required=tuple(port.title for port in node.inputs if port.default is None),
        place=node.place,
    )
    end = ir.EndNode(
        id=_choose_id("end", node),
        name="End",
        inputs=node.outputs,
        outputs=node.outputs,
        branches=(),
        place=node.place,
    )
    into = (
        DataEdge(source=start.id, output=port.title, target=node.id, input=port.title)
        for port in node.inputs
    )
    out = (
        DataEdge(source=node.id, output=port.title, target=end.id, input=port.title)
        for port in node.outputs
    )
    return FlowIR(
        id=node.id,
        name=node.name,
        description=node.description,
        inputs=node.inputs,
        outputs=node.outputs,
        start=start.id,
        nodes=(start, node, end),
        routes=(
            Route(source=start.id, branch="next", target=node.id),
            *(Route(source=node.id, branch=branch, target=end.id) for branch in node.branches),
        ),
        data_edges=(*into, *out),
        place=node.place,
    )


def _choose_id(name: str, node: Node) -> str:
    return f"{name}_of_flow" if node.id == name else name


def build(flow: LoadedFlow, document: Document) -> FlowIR:
    """Build the root flow and, below its FlowNodes, every subflow."""
    return _Builder(document).flow(flow)


class _Builder:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._source = document.source
        self._findings = document.findings
        self._reader = PortReader(document.source, document.findings, is_plain=document.is_plain)
        self._templates = TemplateReader()
        self._flows: dict[int, FlowIR] = {}

    def flow(self, flow: LoadedFlow) -> FlowIR:
        """Build a flow; one that several FlowNodes run is built once."""
        if id(flow) not in self._flows:
            self._flows[id(flow)] = self._flow(flow)
        return self._flows[id(flow)]

    def _flow(self, flow: LoadedFlow) -> FlowIR:
        if flow.is_alone:
            return self._build_alone(flow)
        gaps = list(flow.gaps)
        unread: set[str] = set()
        hiding = frozenset(gap.source for gap in gaps if gap.kind == "inside")
        nodes = tuple(self._build_node(flow, node, unread, hiding) for node in flow.nodes)
        component = flow.component
        start = flow.start.id if flow.start is not None else ""
        start_node = next((node for node in nodes if node.id == start), None)
        package = component.cinatra.get("packageName")
        inputs, outputs = self._inputs(flow, start_node), self._outputs(flow, nodes)
        if any(self._is_flawed(component, field) for field in ("inputs", "outputs")):
            unread.add("")
        # which of two nodes with one id an edge means, nobody knows
        unread |= {node for node, times in Counter(node.id for node in nodes).items() if times > 1}
        gaps += [Gap(kind="ports", source=node) for node in sorted(unread)]
        return FlowIR(
            id=component.id,
            name=component.name,
            description=component.text("description"),
            inputs=inputs,
            outputs=outputs,
            start=start,
            nodes=nodes,
            routes=tuple(
                Route(
                    source=edge.source,
                    branch=edge.branch,
                    target=edge.target,
                    place=self._source.place(edge.pointer),
                )
                for edge in flow.control
            ),
            data_edges=self._data_edges(flow, nodes, start_node, gaps),
            cinatra=Json.of(component.cinatra),
            package_name=package if isinstance(package, str) else "",
            place=self._source.place(component.pointer),
            gaps=tuple(gaps),
        )

    def _build_alone(self, flow: LoadedFlow) -> FlowIR:
        """A flow around the one node that the document is."""
        unread: set[str] = set()
        hiding = frozenset(gap.source for gap in flow.gaps if gap.kind == "inside")
        node = self._build_node(flow, flow.nodes[0], unread, hiding)
        gaps = (*flow.gaps, *(Gap(kind="ports", source=source) for source in sorted(unread)))
        return replace(wrap_node(node), gaps=gaps)

    def _is_flawed(self, component: Component, field: str) -> bool:
        return field in component.unread or component.at(field) in self._reader.flawed

    def _build_node(
        self, flow: LoadedFlow, component: Component, unread: set[str], hiding: frozenset[str]
    ) -> Node:
        """`unread`: takes the ids of nodes with unread ports; `hiding`: ids of nodes that run
        something unread.
        """
        kind = find_kind(component.type) or UNKNOWN
        readable = tuple(map(self.flow, flow.subflows.get(component.id, ())))
        subflows = () if component.id in hiding else readable
        site = Site(
            component=component,
            fields=kind.fields or {},
            flow=flow.component,
            is_start=flow.start is None or flow.start.id == component.id,
            behind=flow.behind.get(component.id),
            is_alone=flow.is_alone,
            agent=flow.agents.get(component.id),
            facts_behind=flow.facts_behind.get(component.id, NO_BEHIND),
            subflows=subflows,
            readable_subflows=readable,
            is_cinatra=self._document.is_cinatra,
            build_flow=self.flow,
            reader=self._reader,
            unread=unread,
            source=self._source,
            findings=self._findings,
            templates=self._templates,
        )
        node = build_node(kind, site)
        if isinstance(node, Node):
            return node
        site.error("OAS055", node.message, hint=node.hint)
        unread.add(component.id)
        return build_unknown(site)

    # ------------------------------------------------------------------ ports of the flow

    def _inputs(self, flow: LoadedFlow, start: Node | None) -> tuple[Port, ...]:
        """The StartNode's inputs: they are the flow's, whatever else the flow declares."""
        if start is not None:
            return start.inputs
        items = flow.component.items("inputs") or ()
        return self._reader.ports(items, flow.component.at("inputs"))

    def _outputs(self, flow: LoadedFlow, nodes: tuple[Node, ...]) -> tuple[Port, ...]:
        """Declared outputs, else the names that every EndNode has."""
        items = flow.component.items("outputs")
        if items is not None:
            return self._reader.ports(items, flow.component.at("outputs"))
        ends = [node for node in nodes if isinstance(node, ir.EndNode)]
        if not ends:
            return ()
        common = set.intersection(*({port.title for port in end.outputs} for end in ends))
        return tuple(port for port in ends[0].outputs if port.title in common)

    # ------------------------------------------------------------------ data edges

    def _data_edges(
        self, flow: LoadedFlow, nodes: tuple[Node, ...], start: Node | None, gaps: list[Gap]
    ) -> tuple[DataEdge, ...]:
        unread = any(gap.kind == "node" for gap in gaps)
        if "data_flow_connections" in flow.component.unread:
            gaps.append(Gap(kind="data"))
        if flow.data is None:
            if unread:
                gaps.append(Gap(kind="data"))  # a node that cannot be read may feed any name
            return self._by_name(flow, nodes, gaps)
        edges = [
            DataEdge(
                source=link.source,
                output=link.output,
                target=link.target,
                input=link.input,
                place=self._source.place(link.pointer),
            )
            for link in flow.data
        ]
        if not isinstance(start, ir.StartNode):
            # its finding says so; the edges that it would imply are not missing
            ends = [node for node in nodes if isinstance(node, ir.EndNode)]
            gaps += [Gap(kind="data", target=end.id) for end in ends]
        return (*edges, *self._list_implicit_edges(nodes, start, edges))

    def _by_name(
        self, flow: LoadedFlow, nodes: tuple[Node, ...], gaps: list[Gap]
    ) -> tuple[DataEdge, ...]:
        """Agent Spec's null: outputs and inputs of one name are one variable."""
        place = self._source.place(flow.component.pointer)
        takers: dict[str, list[Node]] = {}
        for node in nodes:
            if not isinstance(node, ir.StartNode):
                for port in node.inputs:
                    takers.setdefault(port.title, []).append(node)
        givers = [
            (node, port)
            for node in nodes
            if not isinstance(node, ir.EndNode)
            for port in node.outputs
        ]
        if sum(len(takers.get(port.title, ())) for _, port in givers) > MAX_DATA_EDGES:
            self._findings.error(
                "OAS073",
                f"connecting equal names makes more than {MAX_DATA_EDGES:,} data edges",
                place,
                hint="list the data edges in data_flow_connections",
            )
            gaps.append(Gap(kind="data"))
            return ()
        return tuple(
            DataEdge(
                source=giver.id,
                output=port.title,
                target=taker.id,
                input=port.title,
                place=place,
            )
            for giver, port in givers
            for taker in takers.get(port.title, ())
        )

    def _list_implicit_edges(
        self, nodes: tuple[Node, ...], start: Node | None, edges: list[DataEdge]
    ) -> list[DataEdge]:
        """In a file of Cinatra: edges from the StartNode to EndNode outputs that nothing else feeds.

        Plain Agent Spec connects nothing that its edges do not name.
        """
        if not isinstance(start, ir.StartNode) or not self._document.is_cinatra:
            return []
        fed = {(edge.target, edge.input) for edge in edges}
        given = {port.title for port in start.outputs}
        return [
            DataEdge(
                source=start.id, output=port.title, target=end.id, input=port.title, place=end.place
            )
            for end in nodes
            if isinstance(end, ir.EndNode)
            for port in end.inputs
            if (end.id, port.title) not in fed and port.title in given
        ]


# ----------------------------------------------------------------------------
# The flow in the bytes of a stored file, without its checks.
#
# It was checked before it was stored; no rule is applied again, and no placeholder has a value.


def open_document(source: bytes) -> Document | None:
    """None for what is no JSON or YAML object."""
    findings = Findings()
    read = read_source(source, findings)
    if read is None or not isinstance(read.value, dict):
        return None
    # Misspelt members are not corrected as for checking: nothing is believed that is a guess.
    return Document(read, read.value, findings)


def read_flow(source: bytes) -> FlowIR | None:
    """None for what is no flow, or runs too many nodes."""
    document = open_document(source)
    if document is None or document.root is None or document.root.component_type != "Flow":
        return None
    loaded = load(document)
    return None if loaded is None else build(loaded, document)

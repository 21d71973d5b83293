"""The document in, typed flows with resolved references out.

    {"component_type": "Flow", "nodes": [{"$component_ref": "start"}], …}
        ->  spec.Flow(nodes=(Component(type="StartNode", id="start", …),), control=(…), …)

Flows are followed through their FlowNodes; one that several of them run is loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.bounds import MAX_DEPTH, MAX_NODES
from oas_compiler.components import ComponentReader, describe
from oas_compiler.scope import Document, Located
from oas_compiler.spec import (
    FIELDS,
    NODE_TYPES,
    UNSUPPORTED_NODES,
    UNSUPPORTED_RUNNERS,
    Component,
    ControlEdge,
    DataLink,
    Flow,
    is_plugin_type,
)


def load(document: Document) -> Flow | None:
    """The root flow; `None` when the document has none or is too large, with findings."""
    root = document.root
    if root is None:
        return None
    if not root.component_type:
        document.findings.error(
            "OAS020",
            "the document is not an Agent Spec component: it has no component_type",
            document.source.place(root.pointer),
            hint='a flow begins with "component_type": "Flow"',
        )
        return None
    if root.component_type != "Flow":
        return None  # one finding of unsupported.py (or survey.py) says what it is instead
    flow = _Loader(document).flow(root, ())
    return flow if flow is not None and _fits(flow, document) else None


def _fits(flow: Flow, document: Document) -> bool:
    """Whether the flow with all its subflows expanded stays within bounds."""
    sizes: dict[int, int] = {}

    def size(current: Flow) -> int:
        if id(current) not in sizes:
            below = sum(size(subflow) for subflow in current.subflows.values())
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
        self._flows: dict[str, Flow] = {}

    # ------------------------------------------------------------------ flows

    def flow(self, located: Located, around: tuple[str, ...]) -> Flow | None:
        """Load a flow; `around` are the pointers of the flows that it stands in."""
        if located.pointer in self._flows:
            return self._flows[located.pointer]
        located = self._document.enter(located)
        component = self._components.read(located)
        nodes = self._nodes(component, located)
        if len(nodes) > MAX_NODES:
            _report_size(self._document, component.pointer, len(nodes))
            return None
        start = self._child(component, "start_node", located)
        subflows: dict[str, Flow] = {}
        tools: dict[str, Component] = {}
        for node, at in nodes:
            if node.type == "FlowNode":
                subflow = self._subflow(node, at, (*around, located.pointer))
                if subflow is not None:
                    subflows[node.id] = subflow
            elif node.type == "ToolNode":
                tool = self._tool(node, at)
                if tool is not None:
                    tools[node.id] = tool
        flow = Flow(
            component=component,
            start=start,
            nodes=tuple(node for node, _ in nodes),
            control=tuple(self._control(component, located)),
            data=self._data(component, located),
            subflows=subflows,
            tools=tools,
        )
        self._flows[located.pointer] = flow
        return flow

    def _subflow(self, node: Component, at: Located, around: tuple[str, ...]) -> Flow | None:
        target = self._target(node, "subflow", at)
        if target is None:
            return None
        place = self._document.source.place(f"{node.pointer}/subflow")
        if target.component_type != "Flow":
            self._wrong_type(
                f"{node.pointer}/subflow", "a subflow", "a Flow", target.component_type
            )
        elif target.pointer in around:
            self._findings.error(
                "OAS015", f'the FlowNode "{node.id}" runs the flow that it stands in', place
            )
        elif len(around) >= MAX_DEPTH:
            self._findings.error(
                "OAS016", f"flows stand inside each other deeper than {MAX_DEPTH} levels", place
            )
        else:
            return self.flow(target, around)
        return None

    def _tool(self, node: Component, at: Located) -> Component | None:
        target = self._target(node, "tool", at)
        if target is None:
            return None
        kind = target.component_type
        if kind == "ServerTool":
            return self._components.read(target)
        if kind not in UNSUPPORTED_RUNNERS and not is_plugin_type(kind):
            self._wrong_type(f"{node.pointer}/tool", "a tool", "a ServerTool", kind)
        return None

    def _nodes(self, flow: Component, located: Located) -> list[tuple[Component, Located]]:
        nodes: list[tuple[Component, Located]] = []
        seen: set[str] = set()
        for item in self._list(flow, "nodes", located):
            target = self._document.locate(item)
            if target is None:
                continue
            if not _is_node(target):
                self._wrong_type(item.pointer, "an entry of nodes", "a node", target.component_type)
                continue
            component = self._components.read(self._document.enter(target))
            if target.pointer in seen:
                self._findings.warning(
                    "OAS028",
                    f'the node "{component.id}" is listed twice',
                    self._document.source.place(item.pointer),
                    hint="remove the second entry",
                )
                continue
            seen.add(target.pointer)
            nodes.append((component, self._document.enter(target)))
        return nodes

    # ------------------------------------------------------------------ edges

    def _control(self, flow: Component, located: Located) -> Iterator[ControlEdge]:
        for edge, at in self._edges(flow, "control_flow_connections", "ControlFlowEdge", located):
            source = self._child(edge, "from_node", at)
            target = self._child(edge, "to_node", at)
            if source is not None and target is not None:
                yield ControlEdge(
                    source=source.id,
                    branch=edge.text("from_branch", "next"),
                    target=target.id,
                    pointer=edge.pointer,
                )

    def _data(self, flow: Component, located: Located) -> tuple[DataLink, ...] | None:
        if not flow.has("data_flow_connections"):
            return None
        links: list[DataLink] = []
        for edge, at in self._edges(flow, "data_flow_connections", "DataFlowEdge", located):
            source = self._child(edge, "source_node", at)
            target = self._child(edge, "destination_node", at)
            named = edge.has("source_output") and edge.has("destination_input")
            if source is not None and target is not None and named:
                links.append(
                    DataLink(
                        source=source.id,
                        output=edge.text("source_output"),
                        target=target.id,
                        input=edge.text("destination_input"),
                        pointer=edge.pointer,
                    )
                )
        return tuple(links)

    def _edges(
        self, flow: Component, field: str, kind: str, located: Located
    ) -> Iterator[tuple[Component, Located]]:
        for item in self._list(flow, field, located):
            target = self._document.locate(item)
            if target is None:
                continue
            if target.component_type != kind:
                where = f"an entry of {field}"
                self._wrong_type(item.pointer, where, f"a {kind}", target.component_type)
                continue
            yield self._components.read(target), target

    # ------------------------------------------------------------------ members

    def _target(self, component: Component, name: str, at: Located) -> Located | None:
        """What the component field `name` leads to; `None` when that was reported."""
        value = at.value.get(name) if isinstance(at.value, dict) else None
        if not component.has(name):
            return None
        return self._document.locate(Located(value, f"{component.pointer}/{name}", at.scope))

    def _child(self, component: Component, name: str, at: Located) -> Component | None:
        """The node that a field leads to."""
        target = self._target(component, name, at)
        if target is None:
            return None
        if not _is_node(target):
            pointer = f"{component.pointer}/{name}"
            self._wrong_type(pointer, f'"{name}"', "a node", target.component_type)
            return None
        opened = self._components.read(target)
        return opened if opened.id else None

    def _list(self, component: Component, name: str, at: Located) -> Iterator[Located]:
        """Entries of a list field that are objects; others are reported."""
        pointer = component.at(name)
        for index, entry in enumerate(component.items(name) or ()):
            if isinstance(entry, dict):
                yield Located(entry, f"{pointer}/{index}", at.scope)
            else:
                self._findings.error(
                    "OAS022",
                    f"an entry of {name} must be a component or a $component_ref, "
                    f"not {describe(entry)}",
                    self._document.source.place(f"{pointer}/{index}"),
                )

    def _wrong_type(self, pointer: str, what: str, wanted: str, found: str) -> None:
        self._findings.error(
            "OAS014",
            f"{what} must be {wanted}, not {f'a {found}' if found else 'a plain object'}",
            self._document.source.place(pointer),
        )


def _is_node(located: Located) -> bool:
    """Whether this can stand in `nodes`; an unknown type was reported already and passes."""
    kind = located.component_type
    if kind in NODE_TYPES or kind in UNSUPPORTED_NODES or is_plugin_type(kind):
        return True
    return bool(kind) and kind not in FIELDS and kind not in UNSUPPORTED_RUNNERS

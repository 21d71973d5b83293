"""The sources of each node's inputs, the readers of its outputs, and its ways out.

In: one flow of the IR and its place.  Out: `Read`, `Write`, `Way`, `Call`.

    a DataEdge write.draft → review.draft
        ->  review reads draft from write.draft;  write writes draft, read by review.draft

If several edges feed one input, the source that ran last wins.  A StartNode always runs first, so
its value counts until another source has run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from oas_compiler import ir
from oas_compiler.control.graph import ControlGraph
from oas_compiler.control.shown import shown_at
from oas_compiler.explain.records import Call, Feed, Origin, Read, Way, Write
from oas_compiler.ir import DataEdge, FlowIR, Json, JsonValue, Node, Path, Port
from oas_compiler.ir.type_names import shown
from oas_compiler.kinds.llm import name_model
from oas_compiler.kinds.registry import kind_of
from oas_compiler.templates.reading import TemplateInvalid, placeholders, strings

RESULT = "result"
"""The target of an EndNode of the outermost flow."""
_QUERY = re.compile("[?#]")


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowWiring:
    """One flow at one place; a flow that two nodes run has two wirings."""

    flow: FlowIR
    around: Path
    """What the paths of the flow's nodes begin with."""
    outer: tuple[Node, ...]
    """The nodes around the flow, outermost first."""
    graph: ControlGraph

    def path(self, node_id: str) -> Path:
        return (*self.around, node_id)

    @cached_property
    def _position(self) -> Mapping[str, int]:
        return {node.id: index for index, node in enumerate(self.flow.in_order())}

    # ------------------------------------------------------------------ inputs

    def reads(self, node: Node) -> tuple[Read, ...]:
        used = _map_inputs_to_fields(node)
        return tuple(self._build_read(node, port, used.get(port.title, ())) for port in node.inputs)

    def _build_read(self, node: Node, port: Port, templates: tuple[str, ...]) -> Read:
        if isinstance(node, ir.StartNode):
            return self._build_parameter_read(port)
        given = self.flow.feeds.get((node.id, port.title), ())
        edges = sorted(given, key=lambda edge: self._position.get(edge.source, 0))
        feeds = tuple(dict.fromkeys(self._build_feed(edge, node) for edge in edges))
        certain = any(feed.always for feed in feeds)
        origin: Origin = "edge" if feeds else "default" if port.default is not None else "nothing"
        return Read(
            input=port.title,
            type=shown(port.type),
            origin=origin,
            feeds=feeds,
            default=port.default,
            default_counts=port.default is not None and not certain,
            templates=templates,
        )

    def _build_feed(self, edge: DataEdge, reader: Node) -> Feed:
        source = self.flow.by_id[edge.source]
        has_run = self.graph.dominators.is_above(self.path(source.id), self.path(reader.id))
        return Feed(
            node=edge.source,
            output=edge.output,
            always=has_run and (edge.output not in self._uncertain or source.id != self.flow.start),
            is_start=source.id == self.flow.start,
        )

    @cached_property
    def _uncertain(self) -> frozenset[str]:
        """Inputs of the outermost flow that may be missing when a run starts."""
        if self.around:
            return frozenset()
        start = self.flow.start_node()
        return frozenset(
            port.title
            for port in start.inputs
            if port.default is None and port.title not in start.required
        )

    def _build_parameter_read(self, port: Port) -> Read:
        """The source of a StartNode's input: the run's input, or the outer node's."""
        if not self.outer:
            return Read(input=port.title, type=shown(port.type), origin="run", default=port.default)
        outer = self.outer[-1]
        title = f"iterated_{port.title}" if isinstance(outer, ir.MapNode) else port.title
        if isinstance(outer, ir.ExtendedMapNode) and port.title in dict(outer.unpack):
            title = "iterated_input"
        feed = Feed(node=outer.id, output=title, always=True)
        return Read(input=port.title, type=shown(port.type), origin="parent", feeds=(feed,))

    # ------------------------------------------------------------------ outputs

    def writes(self, node: Node) -> tuple[Write, ...]:
        return tuple(self._build_write(node, port) for port in node.outputs)

    def _build_write(self, node: Node, port: Port) -> Write:
        readers = tuple(
            f"{edge.target}.{edge.input}"
            for edge in self.flow.readers.get((node.id, port.title), ())
        )
        return Write(
            output=port.title,
            type=shown(port.type),
            readers=tuple(dict.fromkeys(readers)),
            leaves_as=self._name_leaving(node, port),
        )

    def _name_leaving(self, node: Node, port: Port) -> str:
        """The output of the outer node that an EndNode's output becomes; empty where it is none."""
        if not isinstance(node, ir.EndNode) or port.title not in {
            result.title for result in self.flow.outputs
        }:
            return ""
        if not self.outer:
            return RESULT
        outer, title = self.outer[-1], port.title
        if isinstance(outer, ir.MapNode):
            title = f"collected_{title}"
            if title not in {result.title for result in outer.outputs}:
                return ""  # its reducers leave this output out
        return f"{outer.id}.{title}"

    # ------------------------------------------------------------------ control

    def ways(self, node: Node) -> tuple[Way, ...]:
        routes = self.flow.routes_of(node.id)
        values: dict[str, list[str]] = {}
        if isinstance(node, ir.BranchingNode):
            for value, branch in node.mapping:
                values.setdefault(branch, []).append(value)
        return tuple(
            Way(branch=branch, to=routes.get(branch, ""), values=tuple(values.get(branch, ())))
            for branch in node.branches
        )

    def shown_before(self, node: Node) -> tuple[str, ...]:
        """The nodes whose outputs a gate shows, in the order of the flow."""
        return tuple(sorted(shown_at(self.flow, node.id), key=lambda one: self._position[one]))


# ------------------------------------------------------------------------ calls and templates


def call_of(node: Node) -> Call | None:
    """The call of the node; `None` for a node without a call."""
    if isinstance(node, ir.ClientToolNode):
        return Call(kind="client", tool=node.tool_name)
    if isinstance(node, ir.McpToolNode):
        return Call(kind="mcp", tool=node.tool_name or "of the toolbox")
    if isinstance(node, ir.ToolNode):
        return Call(kind="tool", tool=node.tool_name)
    if isinstance(node, ir.RemoteAgentNode):
        return Call(kind="a2a", url=without_query(node.url))
    if _asks_model(node):
        return Call(kind="model", tool=name_model(node))
    if not isinstance(node, ir.ApiNode):
        return None
    body = node.data.value() if node.data is not None else None
    tool = body.get("tool") if isinstance(body, dict) else None
    if isinstance(node, ir.RemoteToolNode):
        tool = node.tool_name
    return Call(
        kind="http",
        method=node.method,
        url=without_query(node.url),
        tool=tool if isinstance(tool, str) else "",
    )


def _asks_model(node: Node) -> bool:
    inside = isinstance(node, ir.AgentModelNode | ir.AgentShortenNode)
    return inside or kind_of(node).behind == "llm_config"


def without_query(url: str) -> str:
    """An address without its parts that may be secret: user, query and fragment."""
    bare = _QUERY.split(url, maxsplit=1)[0]
    scheme, mark, rest = bare.partition("://")
    if not mark:
        scheme, rest = "", bare
    host, slash, path = rest.partition("/")
    return scheme + mark + host.rpartition("@")[2] + slash + path


def _map_inputs_to_fields(node: Node) -> Mapping[str, tuple[str, ...]]:
    """Input → the fields of the node whose templates use it."""
    found: dict[str, dict[str, None]] = {}
    for value, place in _list_templates(node):
        for text, pointer in strings(value, place):
            try:
                names = placeholders(text)
            except TemplateInvalid:
                continue  # an error of the flow; an explained flow has no errors
            for name in names:
                found.setdefault(name, {})[pointer] = None
    return {name: tuple(places) for name, places in found.items()}


def _list_templates(node: Node) -> Iterator[tuple[JsonValue, str]]:
    if isinstance(node, ir.ApiNode):
        pieces: tuple[tuple[Json | None, str], ...] = (
            (node.data, "data"), (node.headers, "headers"), (node.query, "query_params"),
            (node.sensitive_headers, "sensitive_headers"),
        )  # fmt: skip
        yield node.url, "url"
        yield node.method, "http_method"
        for piece, place in pieces:
            if piece is not None:
                yield piece.value(), place
    elif isinstance(node, (ir.InputMessageNode, ir.OutputMessageNode)):
        yield node.message, "message"
    elif isinstance(node, ir.PluginTemplateNode):
        yield node.template, "template"

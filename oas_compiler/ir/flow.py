"""One flow: its nodes, control edges and data edges, arranged for lookup."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

from cinatra_sdk.values.json_text import NOTHING, Json
from oas_compiler.ir.nodes import EndNode, Node, StartNode, ToolNode
from oas_compiler.ir.types import Port
from oas_compiler.ir.values import Place

K = TypeVar("K")
T = TypeVar("T")
Path: TypeAlias = tuple[str, ...]
"""Ids of nodes from the outermost flow down to a node; all but the last run flows.

The id of a node that runs several flows is followed by the place of one of them, `[0]`, `[1]`, …
(`open_flows`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A control edge: leaving `source` by `branch` runs `target` next."""

    source: str
    branch: str
    target: str
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataEdge:
    """An output that feeds an input; if several edges feed one input, the source that ran last
    wins.
    """

    source: str
    output: str
    target: str
    input: str
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something of the file that could not be read, which an error says; an empty id is unknown.

    What a gap hides is not missing: rules about something that is absent keep silent about it.
    """

    kind: Literal["node", "inside", "route", "data", "ports"]
    """A node of `nodes`, what a node runs, a control edge, a data edge, or inputs or outputs.

    For a listed node of an unknown type, `source` is its id.  For "inside" and "ports",
    `source` is the id of their node; an empty id for "ports" means the flow's own ports.
    """
    source: str = ""
    branch: str = ""
    target: str = ""
    input: str = ""


_NO_ROUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class FlowIR:
    """One flow, checked or not; subflows hang below the node that runs them.

    A class without `__slots__`, so that it can cache its lookups, which are not fields.
    """

    id: str
    name: str
    description: str = ""
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    start: str
    """Id of the StartNode."""
    nodes: tuple[Node, ...]
    """In the author's order of `nodes`; ids are unique within the flow."""
    routes: tuple[Route, ...] = ()
    data_edges: tuple[DataEdge, ...] = ()
    cinatra: Json = NOTHING
    package_name: str = ""
    place: Place = Place()
    gaps: tuple[Gap, ...] = field(default=(), compare=False)
    """The unreadable parts of the flow; empty in every flow that compiles."""

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """Node id → node; of two with one id the first."""
        return MappingProxyType({node.id: node for node in reversed(self.nodes)})

    @cached_property
    def routes_by_source(self) -> Mapping[str, Mapping[str, str]]:
        """Node id → branch → id of the node that runs next."""
        found: dict[str, dict[str, str]] = {}
        for route in self.routes:
            found.setdefault(route.source, {})[route.branch] = route.target
        return MappingProxyType({key: MappingProxyType(routes) for key, routes in found.items()})

    @cached_property
    def sources_by_target(self) -> Mapping[str, tuple[str, ...]]:
        """Node id → ids of the nodes that control can come from."""
        return _group_by_key((route.target, route.source) for route in self.routes)

    @cached_property
    def ways_out(self) -> Mapping[str, tuple[Route, ...]]:
        """Node id → the control edges by which a run goes on; both ends are nodes of the flow.

        A run ends at an EndNode, also where an edge leaves it.
        """
        found: dict[str, list[Route]] = {}
        for route in self.routes:
            source = self.by_id.get(route.source)
            if source is None or isinstance(source, EndNode) or route.target not in self.by_id:
                continue
            found.setdefault(route.source, []).append(route)
        return MappingProxyType({node_id: tuple(routes) for node_id, routes in found.items()})

    @cached_property
    def data_edges_by_target(self) -> Mapping[str, tuple[DataEdge, ...]]:
        """Node id → the data edges into it, in order."""
        return _group_by_key((edge.target, edge) for edge in self.data_edges)

    @cached_property
    def feeds(self) -> Mapping[tuple[str, str], tuple[DataEdge, ...]]:
        """(node id, input) → the data edges into it, in order."""
        return _group_by_key(((edge.target, edge.input), edge) for edge in self.data_edges)

    @cached_property
    def readers(self) -> Mapping[tuple[str, str], tuple[DataEdge, ...]]:
        """(node id, output) → the data edges that take it, in order."""
        return _group_by_key(((edge.source, edge.output), edge) for edge in self.data_edges)

    @property
    def lacks_nodes(self) -> bool:
        """Whether an entry of its nodes could not be read."""
        return any(gap.kind == "node" for gap in self.gaps)

    @cached_property
    def unread_nodes(self) -> frozenset[str]:
        """Ids of the nodes that, or whose insides, could not be read: a gate may be there."""
        return frozenset(gap.source for gap in self.gaps if gap.kind in {"node", "inside"})

    @cached_property
    def unread_ports(self) -> frozenset[str]:
        """Ids of the nodes whose inputs or outputs could not all be read; "" for the flow's own."""
        return frozenset(gap.source for gap in self.gaps if gap.kind == "ports")

    @cached_property
    def doubled(self) -> frozenset[str]:
        """Ids of several nodes: an edge with such an id is ambiguous."""
        times = Counter(node.id for node in self.nodes)
        return frozenset(node_id for node_id, count in times.items() if count > 1)

    @property
    def start_is_unread(self) -> bool:
        """Whether the node that `start` names is unreadable: then the StartNode is unknown."""
        if not self.start:
            return True
        broken = {gap.source for gap in self.gaps if gap.kind == "node"}
        return self.start in broken or (self.start not in self.by_id and self.lacks_nodes)

    @property
    def is_whole(self) -> bool:
        """Whether the flow's inputs, outputs and branches are known: all nodes, a start and an
        end.
        """
        kinds = {type(node) for node in self.nodes}
        ends = {node.id for node in self.nodes if isinstance(node, (StartNode, EndNode))}
        unread = not self.unread_ports.isdisjoint({"", *ends})
        return kinds >= {StartNode, EndNode} and not self.lacks_nodes and not unread

    def __getstate__(self) -> dict[str, object]:
        # A copy builds its own lookups, because read-only mappings cannot be pickled.
        return {member.name: getattr(self, member.name) for member in fields(self)}

    def node(self, node_id: str) -> Node:
        """The node with this id; `KeyError` if there is none."""
        return self.by_id[node_id]

    def start_node(self) -> StartNode:
        node = self.node(self.start)
        assert isinstance(node, StartNode)
        return node

    def routes_of(self, node_id: str) -> Mapping[str, str]:
        """Branch → id of the node that runs next."""
        return self.routes_by_source.get(node_id, _NO_ROUTES)

    def sources_of(self, node_id: str) -> tuple[str, ...]:
        """Ids of the nodes that control can come from."""
        return self.sources_by_target.get(node_id, ())

    def data_edges_into(self, node_id: str) -> tuple[DataEdge, ...]:
        """The data edges that feed a node."""
        return self.data_edges_by_target.get(node_id, ())

    def in_order(self) -> Iterator[Node]:
        """Nodes breadth first along the control edges, then those never reached, in author's order.

        Source of the rule: Cinatra's compile order, on which step numbers depend.
        """
        following = _group_by_key((route.source, route.target) for route in self.routes)
        queue = deque([self.start])
        seen = {self.start}
        while queue:
            current = queue.popleft()
            if current in self.by_id:
                yield self.by_id[current]
            for target in following.get(current, ()):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        for node in self.nodes:
            if node.id not in seen:
                yield node


def _group_by_key(pairs: Iterable[tuple[K, T]]) -> Mapping[K, tuple[T, ...]]:
    """Each key with its different values, in the order of their first appearance."""
    found: dict[K, dict[T, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return MappingProxyType({key: tuple(values) for key, values in found.items()})


def open_flows(node: Node, path: Path) -> tuple[tuple[Path, FlowIR], ...]:
    """The flows that the node at `path` runs, each with the path that its nodes' paths begin with.

    A flow alone has the path of its node.  Several flows of one node may have nodes of one id, so
    each has its place in the list as a further element: `("par", "[0]")`, `("par", "[1]")`.
    """
    flows = node.subflows
    if len(flows) < 2:
        return tuple((path, flow) for flow in flows)
    return tuple(((*path, f"[{index}]"), flow) for index, flow in enumerate(flows))


def walk(flow: FlowIR, around: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node at every depth with its path; a node that runs flows before what is inside them."""
    for node in flow.in_order():
        path = (*around, node.id)
        yield path, node
        for inside, subflow in open_flows(node, path):
            yield from walk(subflow, inside)


def find_tool_names(flow: FlowIR) -> frozenset[str]:
    """Names of the functions that ToolNodes call, at every depth."""
    return frozenset(node.tool_name for _, node in walk(flow) if isinstance(node, ToolNode))

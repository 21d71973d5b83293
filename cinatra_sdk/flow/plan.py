"""A flow as plain data: its nodes with what each does, the edges between them.

    FlowPlan(
        id="greeting",
        start="start",
        nodes=(NodePlan(id="start", work=Start(), …), NodePlan(id="ask", work=HumanGate(step=1), …)),
        routes=(PlannedRoute("start", "next", "ask"), …),
        feeds=(PlannedFeed(("start", "name"), ("ask", "name")), …),
    )

The compiler makes plans of files, and `FlowGraph` (`building.py`) of Python.  Nothing of a host is
in a plan: `graph.py` makes a graph of a plan and of what a host lends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, TypeVar

from cinatra_sdk.events.event import split_path
from cinatra_sdk.values.ports import TypedPort

if TYPE_CHECKING:
    from cinatra_sdk.flow.body import NodeBody
    from cinatra_sdk.flow.site import NodeSite
    from cinatra_sdk.flow.updates import CompareOutputs

K = TypeVar("K")
T = TypeVar("T")
Path: TypeAlias = tuple[str, ...]
"""Ids of nodes from the outermost flow down to a node."""
_NO_ROUTES: Final[Mapping[str, str]] = {}


class NodeWork:
    """What one node does, as plain data; a frozen dataclass for each kind of node."""

    __slots__ = ()
    kind: ClassVar[str]
    """The component type of Agent Spec, or the class of the compiler's node: `ApiNode`."""
    acts: ClassVar[bool] = False
    """Whether the node itself may change something outside of the run."""
    asks_platform: ClassVar[bool] = False
    """Whether it makes calls that a platform answers; a simulation makes them up."""

    @property
    def compare(self) -> CompareOutputs | None:
        """Compares the outputs that the function gives with the declared ones."""
        return None

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        """The flows that the node runs."""
        return ()

    @property
    def asks(self) -> bool:
        """Whether the node itself waits for a person or a caller."""
        return False

    @property
    def asks_person(self) -> bool:
        """Whether it passes the turn to itself in between, once a person has confirmed."""
        return False

    @property
    def repeats(self) -> bool:
        """Whether it passes the turn to itself for another reason."""
        return False

    def make_body(self, site: NodeSite) -> NodeBody:
        """The node's function, with what the host lends.

        Raises: `NotConfigured` where the host lends too little.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PlannedRoute:
    """A control edge."""

    source: str
    branch: str
    target: str


@dataclass(frozen=True, slots=True)
class PlannedFeed:
    """A data edge: an output that feeds an input."""

    source: str
    output: str
    target: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """One node."""

    id: str
    name: str = ""
    """For people."""
    shown: str = ""
    """The name in pictures, where `name` cannot stand there as it is."""
    work: NodeWork
    inputs: tuple[TypedPort, ...] = ()
    outputs: tuple[TypedPort, ...] = ()
    branches: tuple[str, ...] = ("next",)
    """Its ways out; empty for the end of a flow."""
    risk: str = ""
    """The risk class of what it does: `email_send`."""
    once: bool = False
    """Whether what it does happens at most once."""
    after: tuple[str, ...] = ()
    """Nodes without an edge to it that may pass the turn here: see `reopening.py`."""


@dataclass(frozen=True, kw_only=True)
class FlowPlan:
    """One flow; a class without `__slots__`, so that it can cache its lookups."""

    id: str
    name: str = ""
    outputs: tuple[TypedPort, ...] = ()
    start: str
    """Id of the node that begins."""
    nodes: tuple[NodePlan, ...]
    routes: tuple[PlannedRoute, ...] = ()
    feeds: tuple[PlannedFeed, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, NodePlan]:
        return {node.id: node for node in self.nodes}

    @property
    def start_node(self) -> NodePlan:
        return self.by_id[self.start]

    @property
    def inputs(self) -> tuple[TypedPort, ...]:
        """The inputs of a flow are those of its start."""
        return self.start_node.inputs

    @cached_property
    def _routes_by_source(self) -> Mapping[str, Mapping[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for route in self.routes:
            found.setdefault(route.source, {})[route.branch] = route.target
        return found

    @cached_property
    def _sources_by_target(self) -> Mapping[str, tuple[str, ...]]:
        return _group((route.target, route.source) for route in self.routes)

    @cached_property
    def _feeds_by_input(self) -> Mapping[tuple[str, str], tuple[PlannedFeed, ...]]:
        return _group(((feed.target, feed.input), feed) for feed in self.feeds)

    def routes_of(self, node_id: str) -> Mapping[str, str]:
        """Branch → id of the node that runs next."""
        return self._routes_by_source.get(node_id, _NO_ROUTES)

    def sources_of(self, node_id: str) -> tuple[str, ...]:
        """Ids of the nodes that control can come from, each once."""
        return self._sources_by_target.get(node_id, ())

    def feeds_of(self, node_id: str, title: str) -> tuple[PlannedFeed, ...]:
        """The data edges into one input, in order."""
        return self._feeds_by_input.get((node_id, title), ())


def walk_plan(flow: FlowPlan) -> Iterator[NodePlan]:
    """Every node at every depth."""
    for node in flow.nodes:
        yield node
        for inner in node.work.subflows:
            yield from walk_plan(inner)


def walk_plan_paths(flow: FlowPlan, around: Path = ()) -> Iterator[tuple[Path, NodePlan]]:
    """Every node at every depth with its path."""
    for node in flow.nodes:
        path = (*around, node.id)
        yield path, node
        for inside, inner in open_plans(node, path):
            yield from walk_plan_paths(inner, inside)


def find_node(flow: FlowPlan, path: str) -> NodePlan | None:
    """The node at a path of events (`outer#2/each[3]/draft`); None where there is none."""
    flows: tuple[FlowPlan, ...] = (flow,)
    node, place = None, 0
    for node_id, item in split_path(path):
        # Of one flow inside, the item is an element of a map; of several it is the flow's place.
        place = place if len(flows) > 1 else 0
        node = flows[place].by_id.get(node_id) if place < len(flows) else None
        if node is None:
            return None
        flows, place = node.work.subflows, item or 0
    return node


def open_plans(node: NodePlan, path: Path) -> tuple[tuple[Path, FlowPlan], ...]:
    """The flows of the node at `path`, each with the path that its nodes' paths begin with.

    Several flows of one node have their place as a further element: `("par", "[1]")`.
    """
    flows = node.work.subflows
    if len(flows) < 2:
        return tuple((path, flow) for flow in flows)
    return tuple(((*path, f"[{index}]"), flow) for index, flow in enumerate(flows))


def _group(pairs: Iterable[tuple[K, T]]) -> Mapping[K, tuple[T, ...]]:
    found: dict[K, dict[T, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in found.items()}

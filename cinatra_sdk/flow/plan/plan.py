"""A flow as plain data: its nodes with their work, and the edges between them.

    FlowPlan(
        id="greeting",
        start="start",
        nodes=(NodePlan(id="start", work=Start(), …), NodePlan(id="ask", work=HumanGate(step=1), …)),
        routes=(PlannedRoute("start", "next", "ask"), …),
        feeds=(PlannedFeed(("start", "name"), ("ask", "name")), …),
    )

The compiler makes plans from files, and `FlowGraph` (`flow/graph/flow_graph.py`) from Python.  A plan holds
no part of a host: `flow/visit/state_graph.py` makes a graph from a plan and from the parts that a host lends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from pydantic import JsonValue

from cinatra_sdk.data.author_json import Json
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.sensitive_fields import list_secret_texts
from cinatra_sdk.events import split_path
from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from cinatra_sdk.flow.plan.frame import CompareOutputs, Frame, NodeBody
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.langgraph_threads.host_context import Effects
    from cinatra_sdk.outside.http_calls.protocol import Platform


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
    """Nodes without an edge to it that may pass the turn here: see `flow/visit/governance_gate.py`."""


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


# ----------------------------------------------------------------------------
# The input from which the function of a node is made: its plan, flow and frame, and the host's wiring.


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The host's settings for a flow; the same for every node at every depth."""

    host: HostParts
    policy: Callable[[], dict[str, JsonValue]]
    """Makes the approval policy that holds where the host gives none."""
    guards: Sequence[tuple[int, str, str]] = ()
    """(step, gate, send) that every policy must say something about."""
    digest: str
    max_steps: int
    effects: Effects = "line"
    fuse: bool = True
    """Whether nodes that only compute run in the superstep of the node before them."""
    max_parallel: int | None = None
    """How many branches of one node run at a time; None: as many as the engine lets."""
    rules: Any = field(default=None, repr=False)
    """The rules of a governed flow (`cinatra_sdk.flow.visit.governance_gate.FlowRules`); None: none govern it."""

    @property
    def platform(self) -> Platform:
        assert self.host.platform is not None  # see `PlannedFlow.host`
        return self.host.platform

    @property
    def tools(self) -> Mapping[str, Callable[..., Any]]:
        return self.host.tools

    @property
    def env(self) -> Mapping[str, str]:
        """Values of placeholders, by name: secrets of the run."""
        return self.host.env

    @property
    def lent_values(self) -> tuple[str, ...]:
        """Values of placeholders and of sensitive fields, to be cut out of whatever is kept."""
        return (*self.env.values(), *list_secret_texts(self.host.secrets))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSite:
    """The place of one node."""

    plan: NodePlan
    flow: FlowPlan
    frame: Frame = field(repr=False)
    wiring: Wiring = field(repr=False)
    depth: int = 0
    """0 in the outermost flow."""
    inline: bool = False
    """Whether the flow runs as a plain function, without a graph."""

    def find_work(self, node_id: str) -> NodeWork:
        """What another node of the flow does."""
        return self.flow.by_id[node_id].work


# ----------------------------------------------------------------------------
# A plan as one text: the same for plans that say the same, and for no others.
#
# Of it come the hash to which the runs of a module are pinned, and the names of the placeholders that
# a flow reads.


def write_plan(plan: FlowPlan) -> str:
    """JSON with everything that the plan says, values of sensitive fields too: nobody shows it."""
    return json.dumps(_encode(plan), ensure_ascii=False)


def hash_plan(plan: FlowPlan) -> str:
    """sha256, in hex."""
    return hashlib.sha256(write_plan(plan).encode("utf-8", "surrogatepass")).hexdigest()


def _encode(value: Any) -> Any:
    if isinstance(value, Json):
        return [type(value).__name__, value.text]
    if is_dataclass(value):
        members = {one.name: _encode(getattr(value, one.name)) for one in fields(value)}
        return {"": type(value).__qualname__, **members}
    if isinstance(value, Mapping):
        return {str(key): _encode(one) for key, one in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, (tuple, list)):
        return [_encode(one) for one in value]
    return value

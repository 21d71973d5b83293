"""The nodes that control can reach without asking a person, through every container.

    start → draft → mail_flow(start → gate → send)
        open from the start: start, draft, mail_flow, and in mail_flow its start; not its send

Every question is one walk over nodes and edges without the gates.  For an unknown container the
worst case is assumed: control may leave it before its inner nodes have run.  Control does not pass
an unreadable node: it may be a gate, and has its own error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Final, TypeAlias

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.graph import Digraph, reach_from
from oas_compiler.control.risk_classes import counted_class, may_send
from oas_compiler.ir import (
    AgentModelNode,
    EndNode,
    FlowIR,
    InputMessageNode,
    Node,
    Path,
    Place,
    Route,
    open_flows,
)
from oas_compiler.kinds.catch_exception import list_caught
from oas_compiler.kinds.registry import find_kind, passage_of, type_of

Waived: TypeAlias = frozenset[Path]
"""Gates that never ask, as paths of node ids from the flow in question inwards."""

NONE_WAIVED: Waived = frozenset()
_NAME = 80
"""Characters of a node's name in a path."""
_FIRST_AND_LAST = 4
"""Node names at each end of a long path; what is between them is left out."""


def asks_a_person(node: Node) -> bool:
    """A gate; its own `requiresApproval` says nothing (Cinatra: an InputMessageNode always asks)."""
    return isinstance(node, InputMessageNode)


def has_limit(node: Node) -> bool:
    """A gate with a bound on its visits."""
    return isinstance(node, InputMessageNode) and "maxGateVisits" in node.cinatra.mapping()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The nodes and exits of one flow that control can reach without passing a stop."""

    trails: Mapping[str, tuple[str, ...]]
    """Node → the ids on a shortest way to it, the middle of a long one left out."""
    exits: frozenset[str]
    """Branches by which the flow can be left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Openings:
    """The openings of flows; `stops` says which nodes let nothing through unless waived."""

    stops: Callable[[Node], bool]
    _known: dict[tuple[str, Waived], Opening] = field(default_factory=dict)

    def of(self, flow: FlowIR, waived: Waived = NONE_WAIVED) -> Opening:
        key = (flow.place.pointer, waived)
        if key not in self._known:
            self._known[key] = self._walk_flow(flow, waived)
        return self._known[key]

    def _walk_flow(self, flow: FlowIR, waived: Waived) -> Opening:
        def following(node_id: str) -> Iterator[str]:
            return (edge.target for edge in self.edges(flow, flow.by_id[node_id], waived))

        trails: dict[str, tuple[str, ...]] = {}
        starts = [flow.start] if flow.start in flow.by_id else ()
        for node_id, before in reach_from(starts, following).items():
            trails[node_id] = lengthen(trails[before] if before is not None else (), node_id)
        return Opening(
            trails=trails, exits=_list_branches(flow.by_id[node_id] for node_id in trails)
        )

    def edges(self, flow: FlowIR, node: Node, waived: Waived) -> Iterator[Route]:
        """The edges out of a node by which control can go on without having passed a stop."""
        if node.id in flow.unread_nodes:
            return
        if self.stops(node) and (node.id,) not in waived:
            return
        shut = self._find_shut_branches(node, waived)
        # by a branch that a subflow does not have nothing is left: OAS043
        has_branches = bool(node.subflows) and passage_of(node) == "flow"
        real = _list_branches(node.subflows[0].nodes) if has_branches else None
        for edge in flow.ways_out.get(node.id, ()):
            if (shut is None or edge.branch not in shut) and (not real or edge.branch in real):
                yield edge

    def passes(self, node: Node, waived: Waived) -> bool:
        """Whether control can run a container whole without passing a stop inside it."""
        return any(self.of(flow, inside).exits for flow, inside in open_waived(waived, node))

    def _find_shut_branches(self, node: Node, waived: Waived) -> frozenset[str] | None:
        """Branches of a container that lead out past a stop only; `None`: none of them."""
        if not node.subflows:
            return None
        flows = open_waived(waived, node)
        passage = passage_of(node)
        if passage in {"flow", "caught"}:
            subflow, inside = flows[0]
            shut = _list_branches(subflow.nodes) - self.of(subflow, inside).exits
            # an exception may come before the gate, so that its branch is never shut
            return shut - list_caught(node) if passage == "caught" else shut
        if passage == "all":  # a stop in one of the flows stops the node
            passed = all(self.of(flow, inside).exits for flow, inside in flows)
            return None if passed else frozenset({"next"})
        return None  # a map over nothing runs nothing


def _list_branches(nodes: Iterable[Node]) -> frozenset[str]:
    """The branches by which EndNodes among `nodes` leave their flow."""
    return frozenset(node.branch_name for node in nodes if isinstance(node, EndNode))


def open_waived(waived: Waived, node: Node) -> tuple[tuple[FlowIR, Waived], ...]:
    """The flows that a node runs, each with the waived gates inside, named from there."""
    return tuple(
        (flow, _select_below(waived, around) if waived else NONE_WAIVED)
        for around, flow in open_flows(node, (node.id,))
    )


def _select_below(waived: Waived, around: Path) -> Waived:
    for part in around:
        waived = _by_first(waived).get(part, NONE_WAIVED)
    return waived


@lru_cache(maxsize=256)
def _by_first(waived: Waived) -> Mapping[str, Waived]:
    """Paths that begin with one part, without it; made once, as a flow may have thousands of nodes."""
    found: dict[str, set[Path]] = {}
    for first, *rest in waived:
        if rest:
            found.setdefault(first, set()).add(tuple(rest))
    return {first: frozenset(paths) for first, paths in found.items()}


def lengthen(trail: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`trail` and one more node; of a long one the two ends."""
    trail = (*trail, name if len(name) <= _NAME else f"…{name[-_NAME:]}")
    if len(trail) <= 2 * _FIRST_AND_LAST + 1:
        return trail
    return (*trail[:_FIRST_AND_LAST], "…", *trail[-_FIRST_AND_LAST:])


# ----------------------------------------------------------------------------
# Whether a container that is marked as a send acts before the gate that is inside it.
#
#     mail (email_send): start → ApiNode → gate → end               acts: its only call comes first
#     mail (email_send): start → ApiNode (read_only) → gate → ApiNode → end      asks first
#     mail (email_send): start → ApiNode (no class) → gate → ApiNode → end       acts, for all we know
#
# A risk class on a container says that some node inside sends, not which one.  If a node inside has a
# send class itself, that node is the send, and is checked as one.


_HARMLESS: Final = frozenset({"read_only", "read", "draft_create", "draft_update", "write_safe"})


@dataclass(frozen=True, slots=True)
class _Calls:
    """The nodes of some flows that can act."""

    sends: bool = False
    """Whether a node has a send class itself."""
    doubtful: bool = False
    """Whether a node before any gate has a class that may be a send."""
    before: bool = False
    """Whether a node before any gate can act."""
    after: bool = False
    """Whether a node behind a gate can act."""

    def __or__(self, other: _Calls) -> _Calls:
        return _Calls(
            self.sends or other.sends,
            self.doubtful or other.doubtful,
            self.before or other.before,
            self.after or other.after,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCalls:
    """Answers for the containers of one document; every flow is looked at once or twice."""

    openings: Openings
    _all: Openings = field(default_factory=lambda: Openings(stops=lambda _: False))
    _known: dict[tuple[str, Waived, bool], _Calls] = field(default_factory=dict)

    def acts_first(self, node: Node, waived: Waived) -> bool:
        """Whether the container's send may happen before a gate inside it asked."""
        calls = self._collect_calls(open_waived(waived, node), is_open=True)
        if calls.sends:
            return False
        return calls.doubtful or (calls.before and not calls.after)

    def _collect_calls(self, flows: Iterable[tuple[FlowIR, Waived]], *, is_open: bool) -> _Calls:
        found = _Calls()
        for flow, waived in flows:
            key = (flow.place.pointer, waived, is_open)
            if key not in self._known:
                self._known[key] = self._in_flow(flow, waived, is_open=is_open)
            found |= self._known[key]
        return found

    def _in_flow(self, flow: FlowIR, waived: Waived, *, is_open: bool) -> _Calls:
        # flows nest as deep as MAX_DEPTH of input_bounds.py
        opened = self.openings.of(flow, waived).trails if is_open else {}
        found = _Calls()
        for node_id in self._all.of(flow).trails:
            node = flow.by_id[node_id]
            first = node_id in opened
            if may_send(node):
                found |= _Calls(sends=True)
            elif node.subflows:
                found |= self._collect_calls(open_waived(waived, node), is_open=first)
            elif _may_act(node) and node_id not in flow.unread_nodes:
                doubtful = first and counted_class(node) not in _HARMLESS
                found |= _Calls(doubtful=doubtful, before=first, after=not first)
        return found


def _may_act(node: Node) -> bool:
    """Whether a node can change something outside before a person was asked about it.

    A node of an unknown type may.
    """
    kind = find_kind(type_of(node))
    return not node.behind.asks_person and (kind is None or kind.acts or bool(kind.flows))


# ----------------------------------------------------------------------------
# The sends of a flow that control can come to without passing a stop.
#
#     start → draft → send, start → check ─no→ mail(start → send)
#         -> OpenNode(node=send, way=("start", "draft", "send")),
#            `OpenNode(node=send, way=("start", "check", "mail", "mail/send"))`
#
# One walk from the outermost StartNode with the stops taken away.  A container of a send class is a
# send as a whole, and so may be the calls inside it.  Subflows, maps and catch
# branches are walked through; nothing is said of what comes after a node that could not be read.


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNode:
    """A node that control can come to without passing a stop, and a shortest way to it."""

    node: Node
    way: tuple[str, ...]
    waived: Waived
    """The gates beside it and inside it that ask nobody there."""
    is_unread: bool = False
    """Whether the node, or what it runs, could not be read."""


def open_nodes(root: FlowIR, waived: Waived, openings: Openings) -> Iterator[OpenNode]:
    """Each such node at any depth, once for each set of gates that never ask there.

    waived: the gates that stop nothing, by their paths from `root`.
    """
    waiting: list[tuple[FlowIR, Waived, tuple[str, ...]]] = [(root, waived, ())]
    walked = {(root.place.pointer, waived)}
    for flow, waived_here, around in waiting:
        for node_id, trail in openings.of(flow, waived_here).trails.items():
            node, way = flow.by_id[node_id], _join_way(around, trail)
            unread = node_id in flow.unread_nodes
            yield OpenNode(node=node, way=way, waived=waived_here, is_unread=unread)
            for inner, inside in open_waived(waived_here, node):
                if (inner.place.pointer, inside) not in walked:
                    walked.add((inner.place.pointer, inside))
                    waiting.append((inner, inside, way))


def find_open_sends(
    root: FlowIR, waived: Waived, stops: Callable[[Node], bool]
) -> Iterator[OpenNode]:
    """The nodes among them that act on the world outside, each once."""
    openings = Openings(stops=stops)
    calls = ContainerCalls(openings=openings)
    found: set[str] = set()
    for opened in open_nodes(root, waived, openings):
        pointer = opened.node.place.pointer
        if pointer not in found and _is_open(opened, calls):
            found.add(pointer)
            yield opened


def _is_open(opened: OpenNode, calls: ContainerCalls) -> bool:
    """Whether the node, which control can come to, sends without asking a person itself."""
    node, waived = opened.node, opened.waived
    if opened.is_unread or node.behind.asks_person or not may_send(node):
        return False
    # what a container is marked with is done when it has run whole, or by a call inside it
    return (
        not node.subflows or calls.openings.passes(node, waived) or calls.acts_first(node, waived)
    )


def _join_way(around: tuple[str, ...], trail: tuple[str, ...]) -> tuple[str, ...]:
    """A way inside a container after the way to it; the inner StartNode says nothing new."""
    if not around:
        return trail
    way = around
    for name in trail[1:]:
        way = lengthen(way, name if name == "…" else f"{around[-1]}/{name}")
    return way


# ----------------------------------------------------------------------------
# The loops of a flow without a stop: one loop per group of nodes that form loops.
#
#     start → a → b → a, b → end, no gate among them
#         -> Loop(way=(a, b), back="/control_flow_connections/2", …)
#
# These are the loops (control/graph.py) of the graph without its stops.


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop, and all nodes that can be on one of the group."""

    flow: FlowIR
    way: tuple[str, ...]
    """Ids along a shortest way round, from where a run comes to it; the middle of a long one left out."""
    back: Place
    """Place of the control edge that closes it."""
    members: tuple[Node, ...]
    can_end: bool
    """Whether any control edge leads out of it."""

    @property
    def is_bounded(self) -> bool:
        """Whether the runtime bounds its rounds: those of an agent, which ends them itself."""
        return any(isinstance(node, AgentModelNode) for node in self.members)


def walk_flows(flow: FlowIR, waived: Waived = NONE_WAIVED) -> Iterator[tuple[FlowIR, Waived]]:
    """The flow and every flow inside it, each once for each set of gates that never ask there."""
    found = [(flow, waived)]
    seen = {(flow.place.pointer, waived)}
    for current, waived_here in found:
        yield current, waived_here
        for node in current.nodes:
            for inner, inside in open_waived(waived_here, node):
                if (inner.place.pointer, inside) not in seen:
                    seen.add((inner.place.pointer, inside))
                    found.append((inner, inside))


def find_loops(flow: FlowIR, openings: Openings, waived: Waived = NONE_WAIVED) -> Iterator[Loop]:
    """The loops of one flow that a run can come to and that pass no stop."""
    reached = reach_from(
        [flow.start] if flow.start in flow.by_id else (),
        lambda node_id: (edge.target for edge in flow.ways_out.get(node_id, ())),
    )
    order = {node_id: number for number, node_id in enumerate(reached)}
    edges = {node_id: tuple(openings.edges(flow, flow.by_id[node_id], waived)) for node_id in order}
    graph = Digraph({node_id: [edge.target for edge in found] for node_id, found in edges.items()})
    for group in graph.find_loops(order):
        inside = frozenset(group)
        first = min(group, key=order.__getitem__)
        way = graph.find_shortest_round(first, inside)
        back = next(edge.place for edge in edges[way[-1]] if edge.target == first)
        trail: tuple[str, ...] = ()
        for node_id in way:
            trail = lengthen(trail, node_id)
        yield Loop(
            flow=flow,
            way=trail,
            back=back,
            members=tuple(flow.by_id[node_id] for node_id in sorted(group, key=order.__getitem__)),
            can_end=any(
                edge.target not in inside
                for node_id in group
                for edge in flow.ways_out.get(node_id, ())
            ),
        )

"""Where the parts of an edge stand in the file.

    part_of(subject, route.place, "to_node")   ->   the place of that member of the edge

Not a rule.  An edge that the author did not write stands where the flow or its node stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Final

from cinatra_sdk.data.text.message_words import LONGEST_COMPARED
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject
from oas_compiler.control.graph import link_level
from oas_compiler.findings.rule import Report
from oas_compiler.ir import (
    DataEdge,
    EndNode,
    FlowIR,
    Node,
    Place,
    Port,
    Route,
    StartNode,
    UnknownNode,
)
from oas_compiler.text.marks import child


def part_of(subject: Subject, edge: Place, member: str) -> Place:
    """The place of one member of an edge that is written in the file."""
    return subject.place(child(edge.pointer, member))


def input_of(subject: Subject, flow: FlowIR, edge: DataEdge) -> Place:
    """The place of `destination_input`; of an edge that is implied, the place it has."""
    target = flow.by_id.get(edge.target)
    implied = edge.place == flow.place or (target is not None and edge.place == target.place)
    return edge.place if implied else part_of(subject, edge.place, "destination_input")


# ----------------------------------------------------------------------------
# The findings that unreadable parts of a flow explain, so that one flaw makes one finding.
#
#     an edge whose "to_node" names nothing      ->  its branch does lead somewhere
#     an entry of `nodes` that names nothing     ->  an edge to a node that is not listed is no news
#
# Not a rule.  In: a flow.  Out: answers for the rules about missing parts, which ask here first.


_MOST_PAIRS: Final = 100
"""Names that are compared with each other."""


class Gaps:
    """The gaps of one flow, arranged for lookup."""

    def __init__(self, flow: FlowIR) -> None:
        self.nodes = flow.lacks_nodes
        """Whether an entry of `nodes` could not be read."""
        routes = [gap for gap in flow.gaps if gap.kind == "route"]
        self.route_sources = frozenset(gap.source for gap in routes)
        """Ids that an unreadable control edge leaves from; "" where any node may be meant."""
        self.route_targets = frozenset(gap.target for gap in routes)
        self._branches = frozenset((gap.source, gap.branch) for gap in routes)
        self._fed = frozenset((gap.target, gap.input) for gap in flow.gaps if gap.kind == "data")
        self._ports = flow.unread_ports

    def may_leave(self, node: str, branch: str) -> bool:
        """Whether an unreadable control edge may leave `node` by `branch`."""
        return not self._branches.isdisjoint({(node, branch), ("", branch), (node, ""), ("", "")})

    def may_feed(self, node: str, title: str) -> bool:
        """Whether an unreadable data edge may end at the input `title` of `node`."""
        return not self._fed.isdisjoint({(node, title), ("", title), (node, ""), ("", "")})

    def hides_ports(self, node: Node) -> bool:
        """Whether a node may have inputs and outputs that are not known."""
        if is_vague(node) or node.id in self._ports:
            return True
        return "" in self._ports and isinstance(node, (StartNode, EndNode))


def unlisted(flow: FlowIR) -> Mapping[str, Place]:
    """Nodes that control edges name and `nodes` does not list, each with the first such edge.

    Empty where an entry of `nodes` could not be read, which may be the one that is meant, and
    without the StartNode, which start_node names as well.
    """
    if flow.lacks_nodes:
        return {}
    found: dict[str, Place] = {}
    for route in flow.routes:
        for member, end in (("from_node", route.source), ("to_node", route.target)):
            if end not in flow.by_id and end != flow.start:
                found.setdefault(end, Place(child(route.place.pointer, member)))
    return found


def meant_by(wrong: Collection[str], known: Collection[str]) -> frozenset[str]:
    """The names among `known` that misspelt names mean; a finding reports the misspelling."""
    # a handful of wrong names is worth a comparison, hundreds are not
    if not wrong or len(wrong) * len(known) > _MOST_PAIRS:
        return frozenset()
    folded = {name.casefold() for name in wrong}
    short = [name for name in known if len(name) <= LONGEST_COMPARED]
    words = [word for word in wrong if len(word) <= LONGEST_COMPARED]
    near = {found for word in words for found in get_close_matches(word, short, n=1)}
    return frozenset(name for name in known if name in near or name.casefold() in folded)


def is_vague(node: Node) -> bool:
    """Whether the ports and branches of a node are not known, for a reason that has its finding.

    A node of a type that cannot be built, or one over a flow that is not all there.
    """
    if isinstance(node, UnknownNode):
        return True
    return any(not flow.is_whole for flow in node.subflows)


# ----------------------------------------------------------------------------
# The ports of a flow's nodes by title, each worked out once however many edges ask.
#
# Titles(flow).inputs(node)["topic"]   ->   the Port
#
# Not a rule.


_MOST_NAMED: Final = 5


class Titles:
    """Inputs and outputs of the nodes of one flow."""

    def __init__(self, flow: FlowIR) -> None:
        self._inputs = {id(node): {port.title: port for port in node.inputs} for node in flow.nodes}
        self._outputs = {
            id(node): {port.title: port for port in node.outputs} for node in flow.nodes
        }

    def inputs(self, node: Node) -> Mapping[str, Port]:
        return self._inputs[id(node)]

    def outputs(self, node: Node) -> Mapping[str, Port]:
        return self._outputs[id(node)]


def instead(report: Report, name: str, titles: Collection[str], *, kind: str) -> str:
    """What to write for the name of a port that its node lacks; `kind`: input or output."""
    near = report.nearest(name, titles)
    if near:
        return near
    if not titles:
        return f"declare the {kind} at the node, which has none"
    named = ", ".join(f'"{title[:80]}"' for title in list(titles)[:_MOST_NAMED])
    more = ", …" if len(titles) > _MOST_NAMED else ""
    return f"declare it at the node, or name an {kind} that is there: {named}{more}"


# ----------------------------------------------------------------------------
# The nodes that control can reach, and the nodes from which control can reach an end.
#
#     start -> a -> end, b -> end      Reach(flow).reached == {"start", "a", "end"}
#
# Not a rule; `node_is_reachable` and `end_is_reachable` ask it.  A node that edges name and `nodes`
# does not list has its finding and is passed through.


class Reach:
    """What the control edges of a flow connect."""

    def __init__(self, flow: FlowIR) -> None:
        gaps = Gaps(flow)
        graph = link_level(flow)
        ends = {route.source for route in flow.routes} | {route.target for route in flow.routes}
        unlisted = ends.difference(flow.by_id)
        has_start = flow.start in flow.by_id or (gaps.nodes and flow.start != "")
        self.knows_reached = has_start and not unlisted and "" not in gaps.route_targets
        """Whether it can be said that a node is not reached."""
        self.reached = graph.reach_from([flow.start, *gaps.route_targets]).keys()
        self.knows_ending = has_start and "" not in gaps.route_sources
        """Whether it can be said that a run cannot end."""
        used = {(route.source, route.branch) for route in flow.routes}
        # a node with a branch that leads nowhere has its finding: those before it have none
        stops = [
            node.id
            for node in flow.nodes
            if isinstance(node, EndNode)
            or is_vague(node)
            or any((node.id, branch) not in used for branch in node.branches)
        ]
        self.ending = graph.reverse.reach_from([*stops, *unlisted, *gaps.route_sources]).keys()


_MOST_UNREACHED_NAMED: Final = 3


def names_of(nodes: Sequence[Node]) -> str:
    """`"a", "b", "c" and 4 more`: the first of many nodes that one finding is about."""
    names = ", ".join(f'"{node.id[:80]}"' for node in nodes[:_MOST_UNREACHED_NAMED])
    more = len(nodes) - _MOST_UNREACHED_NAMED
    return f"{names} and {more} more" if more > 0 else names


# ----------------------------------------------------------------------------
# Reversed edges, whose ends were confused.
#
#     start → write → end, and an edge show → write where write → show is meant
#         ->  one finding at that edge, and none about the branch of "write" that leads nowhere
#
# Not a rule.  In: a flow.  Out: the edges, for the rules about what is missing because of them.


class Turned:
    """The reversed edges of one flow, worked out once, when a rule first asks for them."""

    def __init__(self, flow: FlowIR) -> None:
        self._flow = flow

    @cached_property
    def routes(self) -> frozenset[Route]:
        """Control edges that are wrong, but would be right when reversed."""
        flow = self._flow
        leaving = Counter((route.source, route.branch) for route in flow.routes)
        arriving = Counter(route.target for route in flow.routes)

        def is_turned(route: Route) -> bool:
            source, target = flow.by_id.get(route.source), flow.by_id.get(route.target)
            if source is None or target is None or leaving[target.id, "next"]:
                return False
            if isinstance(target, StartNode):
                return arriving[source.id] == 0
            if target.branches != ("next",) or arriving[target.id] < 2:
                return False
            return isinstance(source, EndNode) or (
                leaving[source.id, route.branch] > 1 and not arriving[source.id]
            )

        return frozenset(filter(is_turned, flow.routes))

    @cached_property
    def by_branch(self) -> Mapping[tuple[str, str], Route]:
        """(source, branch) → a reversed control edge of that branch."""
        return {(route.source, route.branch): route for route in self.routes}

    @cached_property
    def links(self) -> frozenset[DataEdge]:
        """Data edges whose ports exist only when the edge is reversed."""
        flow, titles = self._flow, Titles(self._flow)

        def is_turned(edge: DataEdge) -> bool:
            source, target = flow.by_id.get(edge.source), flow.by_id.get(edge.target)
            if source is None or target is None or source is target:
                return False
            if edge.output in titles.outputs(source) and edge.input in titles.inputs(target):
                return False
            as_named = _has_both_ports(edge.output, edge.input, titles, target, source)
            return as_named or _has_both_ports(edge.input, edge.output, titles, target, source)

        return frozenset(filter(is_turned, flow.data_edges))


def _has_both_ports(output: str, into: str, titles: Titles, source: Node, target: Node) -> bool:
    return output in titles.outputs(source) and into in titles.inputs(target)


# ----------------------------------------------------------------------------
# Data edges from nodes that never run before the node they feed.  For rules; not a rule itself.
#
#     write → send → end, an edge send.id → write.note, no other edge into write.note
#         -> LateInput(node=write, port=note, edges=(that edge,), is_fed=False)
#
# Flows with unreadable control edges, and unreachable nodes, are skipped: they have findings of their
# own.


@dataclass(frozen=True, slots=True, kw_only=True)
class LateInput:
    """An input with data edges that can never carry a value."""

    flow: FlowIR
    node: Node
    port: Port
    edges: tuple[DataEdge, ...]
    """The edges that come too late, in file order."""
    is_fed: bool
    """Whether another edge can carry a value."""
    has_default: bool
    earlier: str
    """An earlier node with an output of the same name; empty where there is none."""

    @property
    def is_by_name(self) -> bool:
        """Whether nobody wrote the edges: without a list of edges equal names are connected."""
        return all(edge.place == self.flow.place for edge in self.edges)

    @property
    def place(self) -> Place:
        return self.node.place if self.is_by_name else self.edges[0].place

    @property
    def message(self) -> str:
        names = list(dict.fromkeys(f'"{edge.source[:80]}"' for edge in self.edges))
        sources = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        run = "runs" if len(names) == 1 else "run"
        return (
            f'"{self.node.id[:80]}" takes "{self.port.title[:80]}" from {sources}, '
            f"which never {run} before it"
        )

    @property
    def hint(self) -> str:
        if self.earlier:
            return f'"{self.earlier[:80]}" runs before it and has an output "{self.edges[0].output[:80]}"'
        return (
            f'take it from a node that runs before "{self.node.id[:80]}", or lead the control '
            f'edges so that "{self.edges[0].source[:80]}" does'
        )


def late_inputs(subject: Subject) -> Iterator[LateInput]:
    """Every such input of every flow, in the order of the nodes."""
    for flow in subject.flows:
        gaps = Gaps(flow)
        unread = flow.lacks_nodes or gaps.route_sources or gaps.route_targets
        if unread or flow.start not in flow.by_id or unlisted(flow):
            continue
        reached = set(Reach(flow).reached)
        before = _Before(flow)
        # an edge from a context selection that comes late is OAS158's finding
        reached -= {node.id for node in flow.nodes if node.place.pointer in subject.selecting}
        reached -= flow.doubled  # OAS027: nobody knows which of them an edge means
        fallback = {port.title for port in flow.outputs if port.default is not None}
        for node in flow.nodes:
            if node.id in reached and not is_vague(node):
                yield from _of_node(flow, node, before, reached, fallback)


def _of_node(
    flow: FlowIR, node: Node, before: _Before, reached: set[str], fallback: set[str]
) -> Iterator[LateInput]:
    edges: dict[str, list[DataEdge]] = {}
    for edge in flow.data_edges_into(node.id):
        edges.setdefault(edge.input, []).append(edge)
    for port in node.inputs:
        found = edges.get(port.title, [])
        late = [
            edge
            for edge in found
            if edge.source in reached and not before.can_run(edge.source, before=node.id)
        ]
        if late:
            yield LateInput(
                flow=flow,
                node=node,
                port=port,
                edges=tuple(late),
                is_fed=len(late) < len(found),
                has_default=port.default is not None
                or isinstance(node, StartNode)  # the caller of the flow gives it
                or (isinstance(node, EndNode) and port.title in fallback),
                earlier=_find_earlier_source(flow, node, late[0], before),
            )


def _find_earlier_source(flow: FlowIR, node: Node, edge: DataEdge, before: _Before) -> str:
    for other in flow.in_order():
        has_it = any(port.title == edge.output for port in other.outputs)
        if has_it and other.id != node.id and before.can_run(other.id, before=node.id):
            return other.id
    return ""


class _Before:
    """The nodes that can run before each node, also around a loop; computed once."""

    def __init__(self, flow: FlowIR) -> None:
        self._bit = {node_id: 1 << number for number, node_id in enumerate(flow.by_id)}
        self._before = link_level(flow).reverse.gather_ahead(self._bit)

    def can_run(self, node: str, *, before: str) -> bool:
        return bool(self._before.get(before, 0) & self._bit.get(node, 0))

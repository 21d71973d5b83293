"""A directed graph, and every walk over it that this compiler needs; it knows nothing of flows.

    graph = Digraph({"a": ["b"], "b": ["c", "d"], "c": ["b"]})
    graph.reach_from(["a"])                 ->  {"a": None, "b": "a", "c": "b", "d": "b"}
    graph.reach_from(["a"], without=["c"])  nothing gets past "c", which is reached itself
    list(graph.find_groups("abcd"))         ->  ["d"], ["c", "b"], ["a"]
    list(graph.find_loops("abcd"))          ->  ["c", "b"]

All walks take time in proportion to nodes and links, and no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir import EndNode, FlowIR, Node, Path, open_flows
from oas_compiler.kinds.catch_exception import list_caught
from oas_compiler.kinds.registry import passage_of

N = TypeVar("N", bound=Hashable)


def reach_from(
    starts: Iterable[N], following: Callable[[N], Iterable[N]], without: Collection[N] = ()
) -> dict[N, N | None]:
    """Every node that can be reached, breadth first, with the node before it on a shortest way.

    The starts have `None`.  A node in `without` is reached, and nothing is reached through it.
    """
    before: dict[N, N | None] = dict.fromkeys(starts)
    waiting = list(before)
    for current in waiting:
        if current in without:
            continue
        for target in following(current):
            if target not in before:
                before[target] = current
                waiting.append(target)
    return before


def trail_to(node: N, before: Mapping[N, N | None]) -> tuple[N, ...]:
    """The shortest way from a start to `node`, both included, in what `reach_from` found."""
    trail = [node]
    while (previous := before[trail[-1]]) is not None:
        trail.append(previous)
    return tuple(reversed(trail))


@dataclass(frozen=True, eq=False)
class Digraph(Generic[N]):
    """Nodes and which of them follow which."""

    links: Mapping[N, Sequence[N]]
    """Node → the nodes that follow it; a node without an entry is followed by none."""

    def following(self, node: N) -> Sequence[N]:
        """The nodes right after `node`."""
        return self.links.get(node, ())

    @cached_property
    def reverse(self) -> Digraph[N]:
        """The same graph with every link turned around."""
        found: dict[N, list[N]] = {}
        for source, targets in self.links.items():
            for target in targets:
                found.setdefault(target, []).append(source)
        return Digraph(found)

    def preceding(self, node: N) -> Sequence[N]:
        """The nodes right before `node`."""
        return self.reverse.following(node)

    def reach_from(self, starts: Iterable[N], without: Collection[N] = ()) -> dict[N, N | None]:
        """Every node that can be reached from `starts`; see `reach_from`."""
        return reach_from(starts, self.following, without)

    def find_after(self, node: N, without: Collection[N] = ()) -> Collection[N]:
        """The nodes that come after `node`, itself only where a loop leads back to it."""
        return self.reach_from(self.following(node), without).keys()

    # ------------------------------------------------------------------ depth first

    def find_order(self, start: N) -> list[N]:
        """Every node that can be reached, in reverse postorder: outside of loops, sources first."""
        left, _back = self._search_depth_first([start])
        return left[::-1]

    def find_back_links(self, starts: Iterable[N]) -> set[tuple[N, N]]:
        """The links (source, target) that lead back to a node on the way to their source."""
        return self._search_depth_first(starts)[1]

    def _search_depth_first(self, starts: Iterable[N]) -> tuple[list[N], set[tuple[N, N]]]:
        """Depth first: the nodes in the order in which they are left, and the links back."""
        left: dict[N, None] = {}
        back: set[tuple[N, N]] = set()
        entered: set[N] = set()
        for root in starts:
            stack = [(root, iter(self.following(root)))] if root not in entered else []
            entered.add(root)
            while stack:
                current, targets = stack[-1]
                for target in targets:
                    if target not in entered:
                        entered.add(target)
                        stack.append((target, iter(self.following(target))))
                        break
                    if target not in left:
                        back.add((current, target))
                else:
                    left[current] = None
                    stack.pop()
        return list(left), back

    # ------------------------------------------------------------------ loops

    def find_groups(self, nodes: Iterable[N]) -> Iterator[list[N]]:
        """Nodes that lead to each other, of all that can be reached from `nodes` (Tarjan).

        A node in no loop is a group by itself.  What a group leads to comes before it.
        """
        number: dict[N, int] = {}
        lowest: dict[N, int] = {}
        open_nodes: dict[N, None] = {}  # a stack that knows what is on it
        for root in nodes:
            work = [(root, iter(self.following(root)))] if root not in number else []
            while work:
                current, targets = work[-1]
                if current not in number:
                    number[current] = lowest[current] = len(number)
                    open_nodes[current] = None
                for target in targets:
                    if target not in number:
                        work.append((target, iter(self.following(target))))
                        break
                    if target in open_nodes:
                        lowest[current] = min(lowest[current], number[target])
                else:
                    work.pop()
                    if work:
                        around = work[-1][0]
                        lowest[around] = min(lowest[around], lowest[current])
                    if lowest[current] == number[current]:
                        group: list[N] = []
                        while current in open_nodes:
                            group.append(open_nodes.popitem()[0])
                        yield group

    def find_loops(self, nodes: Iterable[N]) -> Iterator[list[N]]:
        """The groups that can be gone round in; a node that follows itself is one, too."""
        for group in self.find_groups(nodes):
            if len(group) > 1 or group[0] in self.following(group[0]):
                yield group

    def find_shortest_round(self, first: N, inside: Collection[N]) -> tuple[N, ...]:
        """A shortest way from `first` back to it through nodes of its loop, `first` named once."""

        def next_inside(node: N) -> Iterator[N]:
            return (target for target in self.following(node) if target in inside)

        before = reach_from([first], next_inside)
        last = next(node for node in before if first in self.following(node))
        return trail_to(last, before)

    def gather_ahead(self, own: Mapping[N, int]) -> dict[N, int]:
        """Each node → the bits of all nodes that come after it, its own only around a loop.

        own: what each node of the graph adds, as bits; keys say which nodes there are.
        """
        ahead: dict[N, int] = {}
        for group in self.find_groups(own):
            inside = set(group)
            found = 0
            for node in group:
                for target in self.following(node):
                    found |= own.get(target, 0)
                    found |= ahead[target] if target not in inside else 0
            for node in group:
                ahead[node] = found
        return ahead


# ----------------------------------------------------------------------------
# The nodes on every way from the start of a graph to a node (its dominators).
#
#     a → b, b → c, b → d, c → e, d → e        Dominators(graph, "a")
#         .find_above("e")     ->  "b", "a": nearest first
#         .is_above("b", "e")  ->  True;  of "c" and "d" neither is on every way to "e"
#
# Cooper, Harvey and Kennedy's algorithm: all nodes at once, near linear for flows as people write them.


class Dominators(Generic[N]):
    """The dominators of every node that can be reached."""

    def __init__(self, graph: Digraph[N], start: N) -> None:
        self._start = start
        self._order = graph.find_order(start)
        self._nearest = self._find_nearest(graph)

    def find_above(self, node: N) -> Iterator[N]:
        """The nodes on every way to `node`, nearest first, without itself."""
        while node in self._nearest and node != self._start:
            node = self._nearest[node]
            yield node

    def is_above(self, first: N, second: N) -> bool:
        """Whether `first` is on every way to `second`, which can be reached and is another node."""
        inner, outer = self._spans.get(second), self._spans.get(first)
        if inner is None or outer is None or first == second:
            return False
        return outer[0] <= inner[0] and inner[1] <= outer[1]

    def gather_above(self, own: Mapping[N, int]) -> dict[N, int]:
        """Each node that can be reached → the bits of all nodes on every way to it."""
        gathered = {self._start: 0}
        for node in self._order[1:]:
            nearest = self._nearest[node]  # stands before `node` in this order
            gathered[node] = gathered[nearest] | own.get(nearest, 0)
        return gathered

    def _find_nearest(self, graph: Digraph[N]) -> dict[N, N]:
        """Node → the nearest other node on every way to it; the start has itself."""
        number = {node: index for index, node in enumerate(self._order)}
        nearest = {self._start: self._start}
        changed = True
        while changed:
            changed = False
            for node in self._order[1:]:
                known = [source for source in graph.preceding(node) if source in nearest]
                best = known[0]
                for other in known[1:]:
                    best = _find_common_dominator(best, other, nearest, number)
                if nearest.get(node) != best:
                    nearest[node] = best
                    changed = True
        return nearest

    @cached_property
    def _spans(self) -> dict[N, tuple[int, int]]:
        """Node → (its number in a walk of the dominator tree, the last number below it)."""
        below: dict[N, list[N]] = {}
        for node in self._order[1:]:
            below.setdefault(self._nearest[node], []).append(node)
        walked: list[N] = []
        stack = [self._start]
        while stack:
            walked.append(stack.pop())
            stack.extend(below.get(walked[-1], ()))
        entered = {node: number for number, node in enumerate(walked)}
        last = dict(entered)
        for node in reversed(walked[1:]):
            above = self._nearest[node]
            last[above] = max(last[above], last[node])
        return {node: (entered[node], last[node]) for node in walked}


def _find_common_dominator(
    first: N, second: N, nearest: Mapping[N, N], number: Mapping[N, int]
) -> N:
    """The nearest node that dominates both."""
    while first != second:
        while number[first] > number[second]:
            first = nearest[first]
        while number[second] > number[first]:
            second = nearest[second]
    return first


# ----------------------------------------------------------------------------
# The control graph of a flow: the order of its nodes, with every subflow expanded.
#
#     start → draft → mail(start → gate → send) → end
#         `graph = ControlGraph.of(flow)`
#         `list(graph.always_before(("end",)))`
#             ->  ("mail", "end"), ("mail", "send"), ("mail", "gate"), ("mail", "start"), ("mail",), …
#         ("mail", "send") in graph.reached(without=[("mail", "gate")])  ->  False
#
# Nodes are named by their paths.  A node that runs a flow leads to the StartNode of that flow.  The
# flow's EndNodes lead to the targets of the outer node's branches of the same name.  The record of a
# kind says how control goes through its flows (`NodeKind.passage`).
#
# Flows that run beside each other all begin behind their node, and the node is left when all of them
# have ended:
#
#     par(a → b, c → d) → e
#         par → a → b,  par → c → d,  par → a' → b' → c' → d' → e
#
# The copies a', b', c', d' say that all four have run before e, though no way leads from b to c.
# Answers name the nodes only, never the copies.
#
# For a node that runs a flow, its path is the point where control enters it; `done(path)` is the
# point where it has run completely, by any branch.  There a FlowNode of a send class acts.
#
# `link_level` is the graph of one flow alone, with ids as nodes: for questions within one flow, and
# for flows that may have errors.


def link_level(flow: FlowIR) -> Digraph[str]:
    """The control edges of one flow as the author wrote them, subflows left closed."""
    links: dict[str, list[str]] = {}
    for route in flow.routes:
        links.setdefault(route.source, []).append(route.target)
    return Digraph(links)


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlGraph:
    """The ways through a flow that has no errors."""

    start: Path
    digraph: Digraph[Path]
    """Nodes, the points behind nodes that run flows, and copies, with what can run next."""
    containers: frozenset[Path]
    """The nodes that run flows."""
    _copies: Mapping[Path, tuple[Path, ...]] = field(repr=False)
    """Node inside flows that run beside each other → its copies."""

    @classmethod
    def of(cls, flow: FlowIR) -> ControlGraph:
        links = dict(_open_flow(flow, (), {}, mark=()))
        copies: dict[Path, tuple[Path, ...]] = {}
        for point in links:
            if _is_copy(point):
                copies[point[1:]] = (*copies.get(point[1:], ()), point)
        containers = frozenset(path[1:] for path in links if path[0] == _DONE)
        return cls(
            start=(flow.start,), digraph=Digraph(links), containers=containers, _copies=copies
        )

    def done(self, path: Path) -> Path:
        """The point at which a node has acted: after everything inside it, or the node itself."""
        return _make_done_path(path) if path in self.containers else path

    def reached(self, without: Collection[Path] = ()) -> Collection[Path]:
        """What control can come to when nothing gets past the nodes in `without`."""
        return self.digraph.reach_from([self.start], self._add_copies(without)).keys()

    def sometimes_before(self, *paths: Path) -> Collection[Path]:
        """The nodes from which control can come to one of `paths`, itself only around a loop."""
        before = [point for path in paths for point in self.digraph.preceding(path)]
        found = self.digraph.reverse.reach_from(before).keys()
        return frozenset(map(_name_node, found)) if self._copies else found

    def always_before(self, path: Path) -> Iterator[Path]:
        """The nodes on every way to `path`, nearest first; none if it is never reached."""
        return map(_name_node, self.dominators.find_above(path))

    def gather_above(self, own: Mapping[Path, int]) -> dict[Path, int]:
        """Each point that can be reached → the bits of all nodes on every way to it."""
        copied = {copy: bits for path, bits in own.items() for copy in self._copies.get(path, ())}
        return self.dominators.gather_above({**own, **copied})

    def repeats(self, path: Path, without: Collection[Path]) -> bool:
        """Whether a loop leads from a node back to it past none of the nodes in `without`."""
        places = (path, *self._copies.get(path, ()))
        following = [target for place in places for target in self.digraph.following(place)]
        return path in self.digraph.reach_from(following, self._add_copies(without))

    @cached_property
    def dominators(self) -> Dominators[Path]:
        """What stands on every way from the StartNode to each node."""
        return Dominators(self.digraph, self.start)

    def _add_copies(self, paths: Collection[Path]) -> Collection[Path]:
        if not self._copies:
            return paths
        return {place for path in paths for place in (path, *self._copies.get(path, ()))}


_DONE = "\0"
"""First part of the points behind nodes that run flows: no id in any file has this character."""
_COPY = "\0copy "
"""First part of the copies of nodes, before the number of parts that their container's path has."""
_ANY = "\0"
"""Stands for every branch."""

_Links: TypeAlias = Iterator[tuple[Path, tuple[Path, ...]]]
"""Points with those that control can come to next."""
_Leaving: TypeAlias = Mapping[str, tuple[Path, ...]]
"""Branch → the points to which it leads out of a flow."""


def _make_done_path(path: Path) -> Path:
    return (_DONE, *path)


def _is_copy(point: Path) -> bool:
    return point[0].startswith(_COPY)


def _name_node(point: Path) -> Path:
    """The node of a copy; any other point itself."""
    return point[1:] if _is_copy(point) else point


def _open_flow(
    flow: FlowIR, around: Path, leaving: _Leaving, *, mark: Path, container: Path = ()
) -> _Links:
    """Every node of a flow, and what is inside them.

    leaving: where each branch of the flow leads.
    mark: the first part of copies; empty for the nodes themselves.
    container: the path of the node that runs the flow.
    """
    for node in flow.nodes:
        path = (*around, node.id)
        routes = flow.routes_of(node.id)
        targets = {branch: (*mark, *around, target) for branch, target in routes.items()}
        if node.subflows:
            yield from _open_container(node, path, targets, mark)
        elif isinstance(node, EndNode):
            following = leaving.get(node.branch_name, leaving.get(_ANY, ()))
            done = (_make_done_path(container),) if container and not mark else ()
            yield (*mark, *path), (*following, *done)
        else:
            yield (*mark, *path), tuple(targets.values())


def _open_container(node: Node, path: Path, targets: Mapping[str, Path], mark: Path) -> _Links:
    """A node that runs flows, and all that is inside it."""
    flows = open_flows(node, path)
    entries = tuple((*mark, *around, flow.start) for around, flow in flows)
    passage = passage_of(node)
    out = tuple(targets.values())
    leaving: dict[str, tuple[Path, ...]] = {_ANY: out}
    if passage == "any":
        # it may run none of its flows (a map over an empty list), or run them again
        leaving = {_ANY: (*out, *entries)}
        entries += (*out, *(() if mark else (_make_done_path(path),)))
    elif passage == "all" and len(flows) > 1:
        yield from _open_all(node, path, out, mark)
        return
    elif passage in {"flow", "caught"}:
        # an exception may come at any time
        names = list_caught(node) if passage == "caught" else frozenset()
        caught = tuple(to for branch, to in targets.items() if branch in names)
        leaving = {branch: (to, *caught) for branch, to in targets.items()}
        entries += caught
    yield (*mark, *path), entries
    if not mark:
        yield _make_done_path(path), ()
    for around, flow in flows:
        yield from _open_flow(flow, around, leaving, mark=mark, container=path)


def _open_all(node: Node, path: Path, out: tuple[Path, ...], mark: Path) -> _Links:
    """A node whose flows run beside each other: once each for itself, once all in a row."""
    flows = open_flows(node, path)
    row = mark or (f"{_COPY}{len(path)}",)
    starts = [(*row, *around, flow.start) for around, flow in flows]
    entries = [starts[0]]
    if not mark:
        entries.extend((*around, flow.start) for around, flow in flows)
        yield _make_done_path(path), ()
        for around, flow in flows:
            yield from _open_flow(flow, around, {}, mark=(), container=path)
    yield (*mark, *path), tuple(entries)
    for (around, flow), following in zip(
        flows, (*((one,) for one in starts[1:]), out), strict=True
    ):
        yield from _open_flow(flow, around, {_ANY: following}, mark=row, container=path)

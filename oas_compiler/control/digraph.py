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
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

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

    def find_before(self, node: N) -> Collection[N]:
        """The nodes that `node` comes after, itself only where a loop leads back to it."""
        return self.reverse.find_after(node)

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

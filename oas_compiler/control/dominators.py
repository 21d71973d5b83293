"""The nodes on every way from the start of a graph to a node (its dominators).

    a → b, b → c, b → d, c → e, d → e        Dominators(graph, "a")
        .find_above("e")     ->  "b", "a": nearest first
        .is_above("b", "e")  ->  True;  of "c" and "d" neither is on every way to "e"

Cooper, Harvey and Kennedy's algorithm: all nodes at once, near linear for flows as people write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Generic

from oas_compiler.control.digraph import Digraph, N


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

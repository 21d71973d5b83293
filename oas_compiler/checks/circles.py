"""Groups of things that lead to each other in a circle.

    {"a": ["b"], "b": ["a", "c"], "c": []}     ->   ["c"], then ["a", "b"]

Strongly connected components (Tarjan): linear, without recursion.  What a group leads to comes
before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def groups(nodes: Iterable[str], following: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The groups that can be come to from `nodes`; a thing in no circle is a group of its own."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: dict[str, None] = {}  # a stack that knows what is on it
    for root in nodes:
        work = [(root, iter(following[root]))] if root not in number else []
        while work:
            current, targets = work[-1]
            if current not in number:
                number[current] = lowest[current] = len(number)
                open_nodes[current] = None
            for target in targets:
                if target not in number:
                    work.append((target, iter(following[target])))
                    break
                if target in open_nodes:
                    lowest[current] = min(lowest[current], number[target])
            else:
                work.pop()
                if work:
                    around = work[-1][0]
                    lowest[around] = min(lowest[around], lowest[current])
                if lowest[current] == number[current]:
                    group: list[str] = []
                    while current in open_nodes:
                        group.append(open_nodes.popitem()[0])
                    yield group

"""The sends of an outline that control can come to without passing a stop.

    start → draft → send, start → check ─no→ mail(start → send)
        -> OpenNode(node=send, way=("start", "draft", "send")),
           OpenNode(node=send, way=("start", "check", "mail", "mail/send"))

One walk from the outermost StartNode with the stops taken away.  A container of a send class is a
send as a whole, and so may be the calls inside it (container_calls.py).  Subflows, maps and catch
branches are walked through; nothing is said of what comes after a node that could not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oas_compiler.control.container_calls import ContainerCalls
from oas_compiler.control.openings import Openings, Waived, lengthen, waived_inside
from oas_compiler.control.outline import Outline, OutlineNode


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNode:
    """A node that control can come to without passing a stop, and a shortest way to it."""

    node: OutlineNode
    way: tuple[str, ...]
    waived: Waived
    """The gates beside it and inside it that ask nobody there."""


def open_nodes(root: Outline, waived: Waived, openings: Openings) -> Iterator[OpenNode]:
    """Each such node at any depth, once for each set of gates that never ask there.

    waived: the gates that stop nothing, by their paths from `root`.
    """
    waiting: list[tuple[Outline, Waived, tuple[str, ...]]] = [(root, waived, ())]
    walked = {(root.pointer, waived)}
    for flow, waived_here, around in waiting:
        for pointer, trail in openings.of(flow, waived_here).trails.items():
            node, way = flow.nodes[pointer], _join_way(around, trail)
            yield OpenNode(node=node, way=way, waived=waived_here)
            inside = waived_inside(waived_here, node)
            for inner in node.inner:
                if (inner.pointer, inside) not in walked:
                    walked.add((inner.pointer, inside))
                    waiting.append((inner, inside, way))


def find_open_sends(
    root: Outline, waived: Waived, stops: Callable[[OutlineNode], bool]
) -> Iterator[OpenNode]:
    """The nodes among them that act on the world outside, each once."""
    openings = Openings(stops=stops)
    calls = ContainerCalls(openings=openings)
    found: set[str] = set()
    for opened in open_nodes(root, waived, openings):
        node = opened.node
        if node.pointer not in found and _is_open(node, calls, opened.waived):
            found.add(node.pointer)
            yield opened


def _is_open(node: OutlineNode, calls: ContainerCalls, waived: Waived) -> bool:
    """Whether the node, which control can come to, sends without asking a person itself."""
    if not node.sends or node.confirmed or node.is_gap:
        return False
    # what a container is marked with is done when it has run whole, or by a call inside it
    return not node.inner or calls.openings.passes(node, waived) or calls.acts_first(node, waived)


def _join_way(around: tuple[str, ...], trail: tuple[str, ...]) -> tuple[str, ...]:
    """A way inside a container after the way to it; the inner StartNode says nothing new."""
    if not around:
        return trail
    way = around
    for name in trail[1:]:
        way = lengthen(way, name if name == "…" else f"{around[-1]}/{name}")
    return way

"""The sends of a flow that control can come to without passing a stop.

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
from oas_compiler.control.openings import Openings, Waived, lengthen, open_waived
from oas_compiler.control.risk_words import may_send
from oas_compiler.ir import FlowIR, Node


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

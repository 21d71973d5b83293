"""The loops of a flow without a stop: one loop per group of nodes that form loops.

    start → a → b → a, b → end, no gate among them
        -> Loop(way=(a, b), back="/control_flow_connections/2", …)

These are the loops (control/digraph.py) of the graph without its stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.control.digraph import Digraph, reach_from
from oas_compiler.control.openings import NONE_WAIVED, Openings, Waived, lengthen, waived_inside
from oas_compiler.control.outline import Outline, OutlineNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop, and all nodes that can be on one of the group."""

    flow: Outline
    way: tuple[str, ...]
    """Ids along a shortest way round, from where a run comes to it; the middle of a long one left out."""
    back: str
    """Pointer of the control edge that closes it."""
    members: tuple[OutlineNode, ...]
    can_end: bool
    """Whether any control edge leads out of it."""


def walk_flows(flow: Outline, waived: Waived = NONE_WAIVED) -> Iterator[tuple[Outline, Waived]]:
    """The flow and every flow inside it, each once for each set of gates that never ask there."""
    found = [(flow, waived)]
    seen = {(flow.pointer, waived)}
    for current, waived_here in found:
        yield current, waived_here
        for node in current.nodes.values():
            inside = waived_inside(waived_here, node)
            for inner in node.inner:
                if (inner.pointer, inside) not in seen:
                    seen.add((inner.pointer, inside))
                    found.append((inner, inside))


def find_loops(flow: Outline, openings: Openings, waived: Waived = NONE_WAIVED) -> Iterator[Loop]:
    """The loops of one flow that a run can come to and that pass no stop."""
    reached = reach_from(
        [flow.start] if flow.start else (),
        lambda pointer: (edge.target for edge in flow.edges_of(pointer)),
    )
    order = {pointer: number for number, pointer in enumerate(reached)}
    edges = {pointer: tuple(openings.edges(flow, flow.nodes[pointer], waived)) for pointer in order}
    graph = Digraph({pointer: [edge.target for edge in found] for pointer, found in edges.items()})
    for group in graph.find_loops(order):
        inside = frozenset(group)
        first = min(group, key=order.__getitem__)
        way = graph.find_shortest_round(first, inside)
        back = next(edge.pointer for edge in edges[way[-1]] if edge.target == first)
        trail: tuple[str, ...] = ()
        for pointer in way:
            trail = lengthen(trail, flow.nodes[pointer].id)
        yield Loop(
            flow=flow,
            way=trail,
            back=back,
            members=tuple(flow.nodes[pointer] for pointer in sorted(group, key=order.__getitem__)),
            can_end=any(
                edge.target not in inside for pointer in group for edge in flow.edges_of(pointer)
            ),
        )

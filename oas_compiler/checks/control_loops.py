"""The loops of a flow that pass no stop: one per group of nodes that control can go round in.

    start → a → b → a, b → end, no gate among them
        -> Loop(way=(a, b), back="/control_flow_connections/2", …)

The circles (circles.py) of what is left without the stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.checks.circles import groups
from oas_compiler.checks.control_flow import ControlFlow, Edge, Step
from oas_compiler.checks.control_paths import NONE_WAIVED, Openings, Waived, below, longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One way round, and everything that can be on one."""

    flow: ControlFlow
    way: tuple[str, ...]
    """Ids along a shortest way round, from where a run comes to it; the middle of a long one left out."""
    back: str
    """Pointer of the control edge that closes it."""
    members: tuple[Step, ...]
    can_end: bool
    """Whether any control edge leads out of it."""


def every_flow(
    flow: ControlFlow, waived: Waived = NONE_WAIVED
) -> Iterator[tuple[ControlFlow, Waived]]:
    """The flow and every flow inside it, each once for each set of gates that never ask there."""
    found = [(flow, waived)]
    seen = {(flow.pointer, waived)}
    for current, waived_here in found:
        yield current, waived_here
        for step in current.steps.values():
            inside = below(waived_here, step)
            for inner in step.inner:
                if (inner.pointer, inside) not in seen:
                    seen.add((inner.pointer, inside))
                    found.append((inner, inside))


def loops(flow: ControlFlow, openings: Openings, waived: Waived = NONE_WAIVED) -> Iterator[Loop]:
    """The loops of one flow that a run can come to and that pass no stop."""
    order = _reached(flow)
    edges = {pointer: tuple(openings.edges(flow, flow.steps[pointer], waived)) for pointer in order}
    following = {pointer: [edge.target for edge in found] for pointer, found in edges.items()}
    for group in groups(order, following):
        inside = frozenset(group)
        if len(group) == 1 and all(edge.target != group[0] for edge in edges[group[0]]):
            continue
        first = min(group, key=order.__getitem__)
        way, back = _round(first, inside, edges)
        trail: tuple[str, ...] = ()
        for pointer in way:
            trail = longer(trail, flow.steps[pointer].id)
        yield Loop(
            flow=flow,
            way=trail,
            back=back,
            members=tuple(flow.steps[pointer] for pointer in sorted(group, key=order.__getitem__)),
            can_end=any(
                edge.target not in inside for pointer in group for edge in flow.edges_of(pointer)
            ),
        )


def _reached(flow: ControlFlow) -> dict[str, int]:
    """Nodes in the order of a walk from the start, gates or not."""
    order = {flow.start: 0} if flow.start else {}
    waiting = list(order)
    for pointer in waiting:
        for edge in flow.edges_of(pointer):
            if edge.target not in order:
                order[edge.target] = len(order)
                waiting.append(edge.target)
    return order


def _round(
    first: str, inside: frozenset[str], edges: dict[str, tuple[Edge, ...]]
) -> tuple[list[str], str]:
    """A shortest way from `first` back to it, and the edge that closes it."""
    before: dict[str, str] = {}
    waiting = [first]
    for pointer in waiting:
        for edge in edges[pointer]:
            if edge.target == first:
                way = [pointer]
                while way[-1] != first:
                    way.append(before[way[-1]])
                return way[::-1], edge.pointer
            if edge.target in inside and edge.target not in before:
                before[edge.target] = pointer
                waiting.append(edge.target)
    raise AssertionError("a strongly connected component has a way round")

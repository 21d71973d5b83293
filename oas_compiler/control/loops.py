"""The loops of a flow without a stop: one loop per group of nodes that form loops.

    start → a → b → a, b → end, no gate among them
        -> Loop(way=(a, b), back="/control_flow_connections/2", …)

These are the loops (control/digraph.py) of the graph without its stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.control.digraph import Digraph, reach_from
from oas_compiler.control.openings import NONE_WAIVED, Openings, Waived, lengthen, open_waived
from oas_compiler.ir import AgentModelNode, FlowIR, Node, Place


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

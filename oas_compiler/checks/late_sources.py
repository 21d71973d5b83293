"""Data edges from nodes that never run before the node they feed.  For rules; not a rule itself.

    write → send → end, an edge send.id → write.note, no other edge into write.note
        -> LateInput(node=write, port=note, edges=(that edge,), is_fed=False)

Flows with unreadable control edges, and unreachable nodes, are skipped: they have findings of their
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.checks.structure.gaps import Gaps, is_vague, unlisted
from oas_compiler.checks.structure.reach import Reach
from oas_compiler.checks.subject import Subject
from oas_compiler.control.graph import link_level
from oas_compiler.ir import DataEdge, EndNode, FlowIR, Node, Place, Port, StartNode


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

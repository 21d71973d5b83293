"""Reversed edges, whose ends were confused.

    start → write → end, and an edge show → write where write → show is meant
        ->  one finding at that edge, and none about the branch of "write" that leads nowhere

Not a rule.  In: a flow.  Out: the edges, for the rules about what is missing because of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from oas_compiler.checks.structure.ports_of import Titles
from oas_compiler.ir import DataEdge, EndNode, FlowIR, Node, Route, StartNode


class Turned:
    """The reversed edges of one flow, worked out once, when a rule first asks for them."""

    def __init__(self, flow: FlowIR) -> None:
        self._flow = flow

    @cached_property
    def routes(self) -> frozenset[Route]:
        """Control edges that are wrong, but would be right when reversed."""
        flow = self._flow
        leaving = Counter((route.source, route.branch) for route in flow.routes)
        arriving = Counter(route.target for route in flow.routes)

        def is_turned(route: Route) -> bool:
            source, target = flow.by_id.get(route.source), flow.by_id.get(route.target)
            if source is None or target is None or leaving[target.id, "next"]:
                return False
            if isinstance(target, StartNode):
                return arriving[source.id] == 0
            if target.branches != ("next",) or arriving[target.id] < 2:
                return False
            return isinstance(source, EndNode) or (
                leaving[source.id, route.branch] > 1 and not arriving[source.id]
            )

        return frozenset(filter(is_turned, flow.routes))

    @cached_property
    def by_branch(self) -> Mapping[tuple[str, str], Route]:
        """(source, branch) → a reversed control edge of that branch."""
        return {(route.source, route.branch): route for route in self.routes}

    @cached_property
    def links(self) -> frozenset[DataEdge]:
        """Data edges whose ports exist only when the edge is reversed."""
        flow, titles = self._flow, Titles(self._flow)

        def is_turned(edge: DataEdge) -> bool:
            source, target = flow.by_id.get(edge.source), flow.by_id.get(edge.target)
            if source is None or target is None or source is target:
                return False
            if edge.output in titles.outputs(source) and edge.input in titles.inputs(target):
                return False
            as_named = _has_both_ports(edge.output, edge.input, titles, target, source)
            return as_named or _has_both_ports(edge.input, edge.output, titles, target, source)

        return frozenset(filter(is_turned, flow.data_edges))


def _has_both_ports(output: str, into: str, titles: Titles, source: Node, target: Node) -> bool:
    return output in titles.outputs(source) and into in titles.inputs(target)

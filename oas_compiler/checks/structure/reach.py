"""The nodes that control can reach, and the nodes from which control can reach an end.

    start -> a -> end, b -> end      Reach(flow).reached == {"start", "a", "end"}

Not a rule; `node_is_reachable` and `end_is_reachable` ask it.  A node that edges name and `nodes`
does not list has its finding and is passed through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oas_compiler.checks.structure.gaps import Gaps, is_vague
from oas_compiler.control.graph import link_level
from oas_compiler.ir import EndNode, FlowIR, Node


class Reach:
    """What the control edges of a flow connect."""

    def __init__(self, flow: FlowIR) -> None:
        gaps = Gaps(flow)
        graph = link_level(flow)
        ends = {route.source for route in flow.routes} | {route.target for route in flow.routes}
        unlisted = ends.difference(flow.by_id)
        has_start = flow.start in flow.by_id or (gaps.nodes and flow.start != "")
        self.knows_reached = has_start and not unlisted and "" not in gaps.route_targets
        """Whether it can be said that a node is not reached."""
        self.reached = graph.reach_from([flow.start, *gaps.route_targets]).keys()
        self.knows_ending = has_start and "" not in gaps.route_sources
        """Whether it can be said that a run cannot end."""
        used = {(route.source, route.branch) for route in flow.routes}
        # a node with a branch that leads nowhere has its finding: those before it have none
        stops = [
            node.id
            for node in flow.nodes
            if isinstance(node, EndNode)
            or is_vague(node)
            or any((node.id, branch) not in used for branch in node.branches)
        ]
        self.ending = graph.reverse.reach_from([*stops, *unlisted, *gaps.route_sources]).keys()


_MOST_NAMED: Final = 3


def names_of(nodes: Sequence[Node]) -> str:
    """`"a", "b", "c" and 4 more`: the first of many nodes that one finding is about."""
    names = ", ".join(f'"{node.id[:80]}"' for node in nodes[:_MOST_NAMED])
    more = len(nodes) - _MOST_NAMED
    return f"{names} and {more} more" if more > 0 else names

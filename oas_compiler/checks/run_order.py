"""Which nodes of a flow can have run before a node: along the control edges, also around a loop.

    start → a → b → a, b → end        Before(flow).can_run("b", before="a") is True
    start → a, a ─x→ b, a ─y→ c       Before(flow).can_run("b", before="c") is False

Not a rule.  In: a flow whose control edges could all be read.
"""

from __future__ import annotations

from oas_compiler.checks.circles import groups
from oas_compiler.ir import FlowIR


class Before:
    """Who can come before whom; worked out once for all nodes, as sets of bits."""

    def __init__(self, flow: FlowIR) -> None:
        sources = {
            node_id: [s for s in flow.sources_of(node_id) if s in flow.by_id]
            for node_id in flow.by_id
        }
        self._bit = {node_id: 1 << number for number, node_id in enumerate(flow.by_id)}
        self._before: dict[str, int] = {}
        # what comes before a group is arranged before the group is
        for group in groups(flow.by_id, sources):
            inside = set(group)
            found = 0
            for node_id in group:
                for source in sources[node_id]:
                    found |= self._bit[source] | (
                        self._before[source] if source not in inside else 0
                    )
            for node_id in group:
                self._before[node_id] = found

    def can_run(self, node: str, *, before: str) -> bool:
        return bool(self._before.get(before, 0) & self._bit.get(node, 0))

"""The nodes whose outputs a gate shows: the nodes right before it.

write → check → gate, check a BranchingNode        shown_at(flow, "gate") -> ("write",)
"""

from __future__ import annotations

from oas_compiler.control.digraph import reach_from
from oas_compiler.ir import BranchingNode, FlowIR, StartNode


def shown_at(flow: FlowIR, gate: str) -> tuple[str, ...]:
    """Ids of the nodes right before a gate, nearest first.

    BranchingNodes have no outputs, so the nodes before them count; the values of the StartNode are
    shown at every gate.
    """

    def preceding(node_id: str) -> tuple[str, ...]:
        is_passed = node_id == gate or isinstance(flow.by_id[node_id], BranchingNode)
        return flow.sources_of(node_id) if is_passed else ()

    found = reach_from([gate], preceding)
    silent = (BranchingNode, StartNode)
    return tuple(n for n in found if n != gate and not isinstance(flow.by_id[n], silent))

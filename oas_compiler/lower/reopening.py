"""The node to which a finalize of a context selection goes back (`cinatra_sdk.flow.reopening`).

In: one flow and a node of it.  Out: the way back, if there is one.
"""

from __future__ import annotations

from cinatra_sdk.flow.reopening import WayBack
from oas_compiler.control.slots import FINALIZE, RESOLVE
from oas_compiler.ir import ApiNode, FlowIR, InputMessageNode, Node


def way_back(flow: FlowIR, node: ApiNode) -> WayBack | None:
    """None for a node that finalizes nothing, and where no node, or several, resolved its slot."""
    if not _is_call_to(node, FINALIZE):
        return None
    resolves: set[str] = set()
    gates: set[str] = set()
    seen = {node.id}
    stack = [node.id]
    while stack:
        for source in flow.sources_of(stack.pop()):
            if source in seen:
                continue
            seen.add(source)
            if _is_call_to(flow.by_id[source], RESOLVE):
                resolves.add(source)
                continue
            if isinstance(flow.by_id[source], InputMessageNode):
                gates.add(source)
            stack.append(source)
    if len(resolves) != 1:
        return None
    return WayBack(resolve=resolves.pop(), gates=frozenset(gates))


def leading_back_to(flow: FlowIR, gate: str) -> tuple[str, ...]:
    """The finalizes that ask this gate again."""
    found = []
    for node in flow.nodes:
        back = way_back(flow, node) if isinstance(node, ApiNode) else None
        if back is not None and gate in back.gates:
            found.append(node.id)
    return tuple(found)


def returning_to(flow: FlowIR, node: Node) -> tuple[str, ...]:
    """The finalizes that pass the turn back to this node, which resolved their slot."""
    if not _is_call_to(node, RESOLVE):
        return ()
    ways = ((one.id, way_back(flow, one)) for one in flow.nodes if isinstance(one, ApiNode))
    return tuple(name for name, way in ways if way is not None and way.resolve == node.id)


def _is_call_to(node: Node, path: str) -> bool:
    return isinstance(node, ApiNode) and node.url.rstrip("/").endswith(path)

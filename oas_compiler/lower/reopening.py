"""Sends a choice that cannot be recorded any more back to the node that resolved its slot.

    resolve → gate → finalize      refused: the artifact was deleted after the decision
            → resolve → gate#2     asked again, about what there is now; both decisions stay

In: one flow and a node of it.  Out: the node to which a finalize goes back, if any.  An autonomous
slot resolves again without a person, a few times; then its error is the run's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cinatra_sdk.context.refusal import MOST_ALONE, MOST_ASKED
from oas_compiler.control.slots import FINALIZE, RESOLVE
from oas_compiler.ir import ApiNode, FlowIR, InputMessageNode, Node

REFUSED: Final = "refused"
"""Member of a finalize's record: why it went back, and what had been chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """From a finalize to the node that resolved its slot."""

    resolve: str
    gates: frozenset[str]
    """The gates between the two: where a person chose."""

    @property
    def most(self) -> int:
        return MOST_ASKED if self.gates else MOST_ALONE


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

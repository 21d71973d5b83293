"""The nodes that control can reach without asking a person, through every container.

    start → draft → mail_flow(start → gate → send)
        open from the start: start, draft, mail_flow, and in mail_flow its start; not its send

Every question is one walk over nodes and edges without the gates.  For an unknown container the
worst case is assumed: control may leave it before its inner nodes have run.  Control does not pass
an unreadable node: it may be a gate, and has its own error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from oas_compiler.control.digraph import reach_from
from oas_compiler.ir import (
    EndNode,
    FlowIR,
    InputMessageNode,
    Node,
    Path,
    Route,
    open_flows,
)
from oas_compiler.kinds.catch_exception import list_caught
from oas_compiler.kinds.registry import passage_of

Waived: TypeAlias = frozenset[Path]
"""Gates that never ask, as paths of node ids from the flow in question inwards."""

NONE_WAIVED: Waived = frozenset()
_NAME = 80
"""Characters of a node's name in a path."""
_FIRST_AND_LAST = 4
"""Node names at each end of a long path; what is between them is left out."""


def asks_a_person(node: Node) -> bool:
    """A gate; its own `requiresApproval` says nothing (Cinatra: an InputMessageNode always asks)."""
    return isinstance(node, InputMessageNode)


def has_limit(node: Node) -> bool:
    """A gate with a bound on its visits."""
    return isinstance(node, InputMessageNode) and "maxGateVisits" in node.cinatra.mapping()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The nodes and exits of one flow that control can reach without passing a stop."""

    trails: Mapping[str, tuple[str, ...]]
    """Node → the ids on a shortest way to it, the middle of a long one left out."""
    exits: frozenset[str]
    """Branches by which the flow can be left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Openings:
    """The openings of flows; `stops` says which nodes let nothing through unless waived."""

    stops: Callable[[Node], bool]
    _known: dict[tuple[str, Waived], Opening] = field(default_factory=dict)

    def of(self, flow: FlowIR, waived: Waived = NONE_WAIVED) -> Opening:
        key = (flow.place.pointer, waived)
        if key not in self._known:
            self._known[key] = self._walk_flow(flow, waived)
        return self._known[key]

    def _walk_flow(self, flow: FlowIR, waived: Waived) -> Opening:
        def following(node_id: str) -> Iterator[str]:
            return (edge.target for edge in self.edges(flow, flow.by_id[node_id], waived))

        trails: dict[str, tuple[str, ...]] = {}
        starts = [flow.start] if flow.start in flow.by_id else ()
        for node_id, before in reach_from(starts, following).items():
            trails[node_id] = lengthen(trails[before] if before is not None else (), node_id)
        return Opening(
            trails=trails, exits=_list_branches(flow.by_id[node_id] for node_id in trails)
        )

    def edges(self, flow: FlowIR, node: Node, waived: Waived) -> Iterator[Route]:
        """The edges out of a node by which control can go on without having passed a stop."""
        if node.id in flow.unread_nodes:
            return
        if self.stops(node) and (node.id,) not in waived:
            return
        shut = self._find_shut_branches(node, waived)
        # by a branch that a subflow does not have nothing is left: OAS043
        has_branches = bool(node.subflows) and passage_of(node) == "flow"
        real = _list_branches(node.subflows[0].nodes) if has_branches else None
        for edge in flow.ways_out.get(node.id, ()):
            if (shut is None or edge.branch not in shut) and (not real or edge.branch in real):
                yield edge

    def passes(self, node: Node, waived: Waived) -> bool:
        """Whether control can run a container whole without passing a stop inside it."""
        return any(self.of(flow, inside).exits for flow, inside in open_waived(waived, node))

    def _find_shut_branches(self, node: Node, waived: Waived) -> frozenset[str] | None:
        """Branches of a container that lead out past a stop only; `None`: none of them."""
        if not node.subflows:
            return None
        flows = open_waived(waived, node)
        passage = passage_of(node)
        if passage in {"flow", "caught"}:
            subflow, inside = flows[0]
            shut = _list_branches(subflow.nodes) - self.of(subflow, inside).exits
            # an exception may come before the gate, so that its branch is never shut
            return shut - list_caught(node) if passage == "caught" else shut
        if passage == "all":  # a stop in one of the flows stops the node
            passed = all(self.of(flow, inside).exits for flow, inside in flows)
            return None if passed else frozenset({"next"})
        return None  # a map over nothing runs nothing


def _list_branches(nodes: Iterable[Node]) -> frozenset[str]:
    """The branches by which EndNodes among `nodes` leave their flow."""
    return frozenset(node.branch_name for node in nodes if isinstance(node, EndNode))


def open_waived(waived: Waived, node: Node) -> tuple[tuple[FlowIR, Waived], ...]:
    """The flows that a node runs, each with the waived gates inside, named from there."""
    return tuple(
        (flow, _select_below(waived, around) if waived else NONE_WAIVED)
        for around, flow in open_flows(node, (node.id,))
    )


def _select_below(waived: Waived, around: Path) -> Waived:
    for part in around:
        waived = _by_first(waived).get(part, NONE_WAIVED)
    return waived


@lru_cache(maxsize=256)
def _by_first(waived: Waived) -> Mapping[str, Waived]:
    """Paths that begin with one part, without it; made once, as a flow may have thousands of nodes."""
    found: dict[str, set[Path]] = {}
    for first, *rest in waived:
        if rest:
            found.setdefault(first, set()).add(tuple(rest))
    return {first: frozenset(paths) for first, paths in found.items()}


def lengthen(trail: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`trail` and one more node; of a long one the two ends."""
    trail = (*trail, name if len(name) <= _NAME else f"…{name[-_NAME:]}")
    if len(trail) <= 2 * _FIRST_AND_LAST + 1:
        return trail
    return (*trail[:_FIRST_AND_LAST], "…", *trail[-_FIRST_AND_LAST:])

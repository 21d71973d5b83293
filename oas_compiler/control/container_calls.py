"""Whether a container that is marked as a send acts before the gate that is inside it.

    mail (email_send): start → ApiNode → gate → end               acts: its only call comes first
    mail (email_send): start → ApiNode (read_only) → gate → ApiNode → end      asks first
    mail (email_send): start → ApiNode (no class) → gate → ApiNode → end       acts, for all we know

A risk class on a container says that some node inside sends, not which one.  If a node inside has a
send class itself, that node is the send, and open_sends.py checks it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from oas_compiler.control.openings import Openings, Waived, open_waived
from oas_compiler.control.risk_words import counted_class, may_send
from oas_compiler.ir import FlowIR, Node
from oas_compiler.kinds.registry import find_kind, type_of

_HARMLESS: Final = frozenset({"read_only", "read", "draft_create", "draft_update", "write_safe"})


@dataclass(frozen=True, slots=True)
class _Calls:
    """The nodes of some flows that can act."""

    sends: bool = False
    """Whether a node has a send class itself."""
    doubtful: bool = False
    """Whether a node before any gate has a class that may be a send."""
    before: bool = False
    """Whether a node before any gate can act."""
    after: bool = False
    """Whether a node behind a gate can act."""

    def __or__(self, other: _Calls) -> _Calls:
        return _Calls(
            self.sends or other.sends,
            self.doubtful or other.doubtful,
            self.before or other.before,
            self.after or other.after,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCalls:
    """Answers for the containers of one document; every flow is looked at once or twice."""

    openings: Openings
    _all: Openings = field(default_factory=lambda: Openings(stops=lambda _: False))
    _known: dict[tuple[str, Waived, bool], _Calls] = field(default_factory=dict)

    def acts_first(self, node: Node, waived: Waived) -> bool:
        """Whether the container's send may happen before a gate inside it asked."""
        calls = self._collect_calls(open_waived(waived, node), is_open=True)
        if calls.sends:
            return False
        return calls.doubtful or (calls.before and not calls.after)

    def _collect_calls(self, flows: Iterable[tuple[FlowIR, Waived]], *, is_open: bool) -> _Calls:
        found = _Calls()
        for flow, waived in flows:
            key = (flow.place.pointer, waived, is_open)
            if key not in self._known:
                self._known[key] = self._in_flow(flow, waived, is_open=is_open)
            found |= self._known[key]
        return found

    def _in_flow(self, flow: FlowIR, waived: Waived, *, is_open: bool) -> _Calls:
        # flows nest as deep as bounds.MAX_DEPTH
        opened = self.openings.of(flow, waived).trails if is_open else {}
        found = _Calls()
        for node_id in self._all.of(flow).trails:
            node = flow.by_id[node_id]
            first = node_id in opened
            if may_send(node):
                found |= _Calls(sends=True)
            elif node.subflows:
                found |= self._collect_calls(open_waived(waived, node), is_open=first)
            elif _may_act(node) and node_id not in flow.unread_nodes:
                doubtful = first and counted_class(node) not in _HARMLESS
                found |= _Calls(doubtful=doubtful, before=first, after=not first)
        return found


def _may_act(node: Node) -> bool:
    """Whether a node can change something outside before a person was asked about it.

    A node of an unknown type may.
    """
    kind = find_kind(type_of(node))
    return not node.behind.asks_person and (kind is None or kind.acts or bool(kind.flows))

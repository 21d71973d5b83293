"""One flow of a comparison: its gates, the nodes that act, and which gate is on every way to which.

start → draft → review → apply → send      acting: draft, apply, send;  sends: send
    before(("apply",)) -> {("review",)} as a bit mask: one `&` compares all gates at once
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from oas_compiler.control.approval import GateSpec, derive_approval, waived_gates
from oas_compiler.control.risk import sends
from oas_compiler.explain.passage import Passage
from oas_compiler.ir import (
    BranchingNode,
    EndNode,
    FlowIR,
    InputMessageNode,
    Node,
    OutputMessageNode,
    Path,
    RegexNode,
    StartNode,
    TemplateNode,
)

_IDLE = (
    StartNode, EndNode, BranchingNode, InputMessageNode, OutputMessageNode, RegexNode, TemplateNode,
)  # fmt: skip
"""Nodes that change nothing outside the run.  Every other type counts as acting, also a new one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Guarding:
    """One flow: its gates, what acts in it, and the ways between them."""

    flow: FlowIR
    nodes: dict[Path, Node]

    @cached_property
    def passage(self) -> Passage:
        return Passage.of(self.flow)

    @cached_property
    def gates(self) -> dict[Path, GateSpec]:
        return {gate.path: gate for gate in derive_approval(self.flow).gates}

    @cached_property
    def waived(self) -> frozenset[Path]:
        """The gates that never ask; `requiresApproval` of a gate itself is its author's remark."""
        return waived_gates(self.flow)

    @cached_property
    def asking(self) -> frozenset[Path]:
        return frozenset(self.gates) - self.waived

    @cached_property
    def sends(self) -> frozenset[Path]:
        return sends(self.flow)

    @cached_property
    def acting(self) -> frozenset[Path]:
        """The nodes that can change something outside the run, sends or not."""
        return self.sends | {
            path for path, node in self.nodes.items() if not isinstance(node, _IDLE)
        }

    @cached_property
    def reached(self) -> set[Path]:
        return self.passage.reached()

    def acts(self, path: Path) -> bool:
        """Whether control can come to where the node has acted."""
        return self.passage.done(path) in self.reached

    @cached_property
    def _open(self) -> set[Path]:
        return self.passage.reached(without=self.asking)

    def is_open(self, path: Path) -> bool:
        """Whether the node can act before any gate asked."""
        return self.passage.done(path) in self._open

    def repeats(self, send: Path) -> bool:
        """Whether a loop leads from the send to itself without any gate."""
        stack = list(self.passage.following.get(send, ()))
        seen = set(stack)
        while stack:
            current = stack.pop()
            if current == send:
                return True
            if current in self.asking:
                continue
            for target in self.passage.following.get(current, ()):
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        return False


class GatesBefore:
    """The gates on every way to a node, as one number: bit n is the gate with number n."""

    def __init__(self, guarding: Guarding, numbers: Mapping[Path, int]) -> None:
        """numbers: of the gates that are asked about, by their paths in this flow."""
        self._passage = guarding.passage
        self._numbers = numbers
        self._known: dict[Path, int] = {}

    def of(self, path: Path) -> int:
        """0 also for what is never reached."""
        point = self._passage.done(path)
        way = []
        # up to where it is known, then down again: every node is worked out once
        for above in self._passage.before(point):
            way.append(point)
            point = above
            if point in self._known:
                break
        mask = self._known.setdefault(point, 0)
        for below in reversed(way):
            number = self._numbers.get(point)
            mask |= 1 << number if number is not None else 0
            self._known[below] = mask
            point = below
        return mask


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest

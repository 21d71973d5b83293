"""One flow with its gates and acting nodes: finds nodes that can act before any gate asked.

    start → gate → send                                       send is not open
    start → check ─a→ gate → send, check ─b→ send             send is open: one way has no gate
    start → draft(a gate inside) → send                       send is not open

A gate that the policy waives (`requiresApproval: false` in `gateSteps`) guards nothing.  A gate is
never a send: its risk class describes the nodes that it guards.

This is the one proof that explanations and comparisons share; the rules prove the same for files
that may have errors (open_sends.py), and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from oas_compiler.control.approval import Approval, derive_approval, waived_gates
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.graph import ControlGraph
from oas_compiler.control.risk import sends
from oas_compiler.ir import FlowIR, Path


@dataclass(frozen=True, kw_only=True, eq=False)
class Guarding:
    """The gates of a flow, its sends, and the ways between them; each computed once."""

    flow: FlowIR

    @cached_property
    def graph(self) -> ControlGraph:
        """Which node runs after which, at any depth."""
        return ControlGraph.of(self.flow)

    @cached_property
    def approval(self) -> Approval:
        """The policy that the flow implies, and its gates."""
        return derive_approval(self.flow)

    @cached_property
    def gates(self) -> dict[Path, GateSpec]:
        """Every gate, as the policy shows it, in the order of the policy's steps."""
        return {gate.path: gate for gate in self.approval.gates}

    @cached_property
    def waived(self) -> frozenset[Path]:
        """The gates that never ask; `requiresApproval` of a gate itself is its author's remark."""
        return waived_gates(self.flow)

    @cached_property
    def asking(self) -> frozenset[Path]:
        """The gates that ask a person."""
        return frozenset(self.gates) - self.waived

    @cached_property
    def sends(self) -> frozenset[Path]:
        """The nodes that act on the world outside."""
        return sends(self.flow)

    @cached_property
    def reached(self) -> Collection[Path]:
        """What control can come to at all."""
        return self.graph.reached()

    @cached_property
    def _open(self) -> Collection[Path]:
        return self.graph.reached(without=self.asking)

    def acts(self, path: Path) -> bool:
        """Whether control can come to where the node has acted."""
        return self.graph.done(path) in self.reached

    def is_open(self, path: Path) -> bool:
        """Whether the node can act before any gate asked."""
        return self.graph.done(path) in self._open

    def repeats(self, send: Path) -> bool:
        """Whether a loop leads from the send back to it without any gate."""
        return self.graph.repeats(send, without=self.asking)

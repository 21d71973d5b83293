"""One flow with what is derived from it: its policy, gates, acting nodes, slots, and the ways between them.

    start → gate → send                                       send is not open
    start → check ─a→ gate → send, check ─b→ send             send is open: one way has no gate
    start → draft(a gate inside) → send                       send is not open

A gate that the policy waives (`requiresApproval: false` in `gateSteps`) guards nothing.  A gate is
never a send: its risk class describes the nodes that it guards.

Rules, the compiled flow, explanations and comparisons are given this record and derive nothing again.
Its proof is the one that explanations and comparisons share; the rules prove the same for files that
may have errors (openings.py), and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property

from cinatra_sdk.contract import is_send_class
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.approval import Approval, derive_approval, find_guards, list_acting
from oas_compiler.control.context_slots import SlotFlow, read_slots
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.graph import ControlGraph
from oas_compiler.control.risk_classes import sends
from oas_compiler.control.simulation_answers import autonomous_slots, steering
from oas_compiler.ir import FlowIR, FlowNode, JsonValue, Node, Path


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowControl:
    """What is derived from one flow; each value is computed once, on its first use."""

    flow: FlowIR

    @cached_property
    def flows(self) -> tuple[FlowIR, ...]:
        """The flow, then every subflow, also of nodes that do not run yet; each once."""
        found, seen = [self.flow], {id(self.flow)}
        for current in found:
            for subflow in (inner for node in current.nodes for inner in node.subflows):
                if id(subflow) not in seen:
                    seen.add(id(subflow))
                    found.append(subflow)
        return tuple(found)

    @cached_property
    def slot_flows(self) -> tuple[SlotFlow, ...]:
        """The flows that declare context slots."""
        return read_slots(self.flows)

    @cached_property
    def graph(self) -> ControlGraph:
        """Which node runs after which, at any depth."""
        return ControlGraph.of(self.flow)

    # ------------------------------------------------------------------ gates and the policy

    @cached_property
    def approval(self) -> Approval:
        """The policy that the flow implies, and its gates; the flow has a StartNode."""
        bare = derive_approval(self.flow)
        found = list_acting(self.flow, bare.gates)
        acting = frozenset(path for path, node in found if is_send_class(node.risk_class))
        return replace(bare, guards=tuple(find_guards(self.flow, bare.gates, acting)))

    @cached_property
    def gates(self) -> dict[Path, GateSpec]:
        """Every gate, as the policy shows it, in the order of the policy's steps."""
        return {gate.path: gate for gate in self.approval.gates}

    @cached_property
    def waived(self) -> frozenset[Path]:
        """The gates that never ask: their `gateSteps` entry says `requiresApproval: false`.

        `requiresApproval` of a gate itself is its author's remark.
        """
        nodes = [node for node in self.flow.nodes if isinstance(node, FlowNode)]
        # First, because a flow with errors may have no StartNode, and so no policy.
        if not any(step.requires_approval is False for node in nodes for step in node.gate_steps):
            return frozenset()
        waived = {step.number for step in self.approval.steps if not step.requires_approval}
        return frozenset(gate.path for gate in self.approval.gates if gate.step in waived)

    @cached_property
    def asking(self) -> frozenset[Path]:
        """The gates that ask a person."""
        return frozenset(self.gates) - self.waived

    # ------------------------------------------------------------------ what acts

    @cached_property
    def calls(self) -> tuple[Node, ...]:
        """The nodes whose risk class matters: calls, sends, and gates (`list_acting`)."""
        return tuple(node for _, node in list_acting(self.flow, self.approval.gates))

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

    # ------------------------------------------------------------------ simulations

    @cached_property
    def autonomous_slots(self) -> dict[str, JsonValue]:
        """Stubs of a simulation for the slots that ask no person; not to be changed."""
        return autonomous_slots(self.flow, self.slot_flows)

    @cached_property
    def steering(self) -> dict[str, JsonValue]:
        """Stubs that lead a simulation past the flow's gates; not to be changed."""
        return steering(self.flow, self.autonomous_slots)

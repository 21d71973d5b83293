"""The gates of a flow, each as the policy shows it.

    FlowNode mail, gateSteps [{"name": "Confirm"}], around a gate "confirm_gate"
        -> GateSpec(path=("mail", "confirm_gate"), name="Confirm", …)

The entries of `gateSteps` belong to the gates that stand directly in the FlowNode's subflow
(`entry_gates`): each to the entry at its position, the last one also to any gates beyond.  They
override its name, screen and risk class.  A deeper gate is shown as the FlowNode right around it
says; a gate right inside another node that runs flows (a map, flows beside each other) is shown as
it is.  A context selection always has its own screen, because its answer must fit that screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from oas_compiler.ir import FlowNode, GateStep, InputMessageNode, Node, Path, open_flows


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """One gate of a flow, and the policy step that governs it."""

    path: Path
    step: int
    name: str
    renderer: str
    """Empty where neither the gate nor its step names a screen."""
    risk_class: str
    description: str = ""

    @property
    def id(self) -> str:
        """Id of the gate's first visit, `outer/inner`."""
        return "/".join(self.path)

    @property
    def node(self) -> str:
        """The original OAS node id."""
        return self.path[-1]

    @property
    def risk(self) -> str:
        """The risk class."""
        return self.risk_class


def is_selector(renderer: str) -> bool:
    """Whether the screen asks for a context selection, whoever publishes it.

    The runtime decides by a rule of its own in cinatra_sdk/context/selector.py; a test compares
    the two.
    """
    return renderer.endswith(":context-selector")


def show_gate(node: InputMessageNode, path: Path, step: int) -> GateSpec:
    """The gate as it shows itself."""
    return GateSpec(
        path=path,
        step=step,
        name=node.name,
        renderer=node.renderer,
        risk_class=node.risk_class or "read_only",
        description=node.description,
    )


def show_gates_in(node: Node, path: Path) -> Iterator[GateSpec]:
    """The gates in a node that runs flows, each as the `gateSteps` of a FlowNode right around it
    show it.
    """
    entries: dict[str, GateStep] = {}
    if isinstance(node, FlowNode):
        entries = {gate: node.gate_steps[entry] for gate, entry in find_entries(node).items()}
    for around, flow in open_flows(node, path):
        for inner in flow.in_order():
            place = (*around, inner.id)
            if isinstance(inner, InputMessageNode):
                gate = show_gate(inner, place, 0)
                yield _override_gate(gate, entries[inner.id]) if inner.id in entries else gate
            else:
                yield from show_gates_in(inner, place)


def find_entries(node: FlowNode) -> dict[str, int]:
    """Gate → index of the entry of `gateSteps` that is written for it; empty without entries."""
    gates = entry_gates(node) if node.gate_steps else []
    # No more than are needed: an author may write any gateCount.
    every_slot = (i for i, entry in enumerate(node.gate_steps) for _ in range(entry.gate_count))
    slots = list(islice(every_slot, len(gates)))
    return {gate.id: slots[min(i, len(slots) - 1)] for i, gate in enumerate(gates)}


def entry_gates(node: FlowNode) -> list[InputMessageNode]:
    """The gates that the entries of `gateSteps` are written for, in order.

    Without entries the FlowNode is one step, and all gates in it are shown as they are.
    """
    return [
        gate
        for gate in node.subflow.in_order()
        if isinstance(gate, InputMessageNode) and not is_selector(gate.renderer)
    ]


def _override_gate(gate: GateSpec, entry: GateStep) -> GateSpec:
    """The gate with the values of the parent's `gateSteps` entry, which override the gate's own."""
    return replace(
        gate,
        name=entry.name or gate.name,
        renderer=entry.renderer or gate.renderer,
        risk_class=entry.risk_class or gate.risk_class,
        description=entry.description or gate.description,
    )

"""The outline of a flow: nodes, control edges, and the flows inside the nodes, whatever their kinds.

    mail(start → gate → send)
        -> OutlineNode(id="mail", type="FlowNode", inner=(Outline(pointer="/…/mail", …),), …)

For files that may have errors and nodes that nothing can run yet, which the control graph (graph.py)
leaves aside.  openings.py, loops.py and open_sends.py ask it; checks/outlines.py reads it.
A flow that several nodes run is one outline: however they nest, no work is done twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from oas_compiler.ir import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutlineNode:
    """One node."""

    pointer: str
    id: str
    type: str
    cinatra: Mapping[str, JsonValue]
    """`metadata.cinatra`; empty where there is none."""
    risk_class: str
    """Its own, or that of the tool or agent behind it where only that one is a send."""
    sends: bool
    """As `risk.is_send`, and however its risk class is spelt."""
    confirmed: bool
    """Whether a person is asked about this very node: a tool that requires confirmation, an
    AgentNode that requires approval; one that could not be read may be such a tool."""
    branch: str
    """Of an EndNode the branch by which the flow is left."""
    inner: tuple[Outline, ...] = ()
    """The flows that it runs."""
    is_gap: bool = False
    """Whether an error says that it, or what it runs, could not be read: a gate may be there."""

    @property
    def is_gate(self) -> bool:
        return self.type == "InputMessageNode"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEdge:
    branch: str
    target: str
    """Pointer of a node."""
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outline:
    """One flow; its nodes are named by their pointers."""

    pointer: str
    start: str
    """Empty where the flow has no start that could be found."""
    nodes: Mapping[str, OutlineNode]
    edges: Mapping[str, tuple[OutlineEdge, ...]]

    @property
    def branches(self) -> frozenset[str]:
        """The ways out of the flow."""
        return frozenset(node.branch for node in self.nodes.values() if node.type == "EndNode")

    def edges_of(self, pointer: str) -> tuple[OutlineEdge, ...]:
        return self.edges.get(pointer, ())

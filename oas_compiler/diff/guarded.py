"""One flow of a comparison: the nodes that act, and the gates on every way to each node.

start → draft → review → apply → send      acting: draft, apply, send;  sends: send
    gates_before({("review",): 0})(("apply",)) -> 1, a bit mask: one `&` compares all gates at once
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from oas_compiler.control.guarding import Guarding
from oas_compiler.ir import Node, Path
from oas_compiler.kinds.registry import kind_of


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedFlow(Guarding):
    """One flow: its gates, its acting nodes, and the ways between them."""

    nodes: dict[Path, Node]

    @cached_property
    def acting(self) -> frozenset[Path]:
        """The nodes that can change something outside the run, sends or not."""
        return self.sends | {path for path, node in self.nodes.items() if _may_act(node)}

    def gates_before(self, numbers: Mapping[Path, int]) -> Callable[[Path], int]:
        """Node → the gates on every way to it, as one number; 0 also for a node that is never
        reached.

        numbers: numbers of the gates to look for: bit n is the gate with number n.
        """
        masks = self.graph.gather_above({p: 1 << n for p, n in numbers.items()})
        return lambda path: masks.get(self.graph.done(path), 0)


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _may_act(node: Node) -> bool:
    """Whether a node of its kind can change something outside the run, or runs flows that may."""
    kind = kind_of(node)
    return kind.acts or bool(kind.flows)

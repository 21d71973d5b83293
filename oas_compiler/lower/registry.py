"""Which function lowers which kind of node.

`oas_compiler.lower.nodes` registers one function per IR node type; a type registered twice is
refused at import, a type not registered is a mistake of ours and fails in the first test.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cinatra_sdk.engine.lineage import Effects
from cinatra_sdk.platform.protocol import Platform
from oas_compiler.control.approval import Approval
from oas_compiler.ir import FlowIR, Node
from oas_compiler.lower.frame import Frame

NodeFunction: TypeAlias = Callable[..., Any]
AsyncNodeFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What the host gave when it compiled the flow; the same for every node at every depth."""

    platform: Platform
    tools: Mapping[str, Callable[..., Any]]
    approval: Approval
    digest: str
    max_steps: int
    effects: Effects = "line"
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of placeholders, by name: secrets of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a node is lowered."""

    node: Node
    flow: FlowIR
    frame: Frame
    wiring: Wiring
    depth: int
    """0 in the outermost flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """One LangGraph node."""

    run: NodeFunction
    """`(state, runtime) -> update`."""
    arun: AsyncNodeFunction | None = None
    """The asynchronous form; None where the node only computes."""
    reads: tuple[str, ...] = ()
    """State keys that the node reads beyond its frame's."""
    takes_turns: bool = True
    """Whether it runs in its turn only; a StartNode decides for itself."""
    acts: bool = False
    """Whether it, or a node inside it, does something outside the run: the host is asked before."""
    bare: bool = False
    """The engine must see the function itself, because it looks for a subgraph in it."""
    chooses: bool = False
    """Whether it leaves by `Command(goto=…)`; otherwise by the one static edge."""


Lowering: TypeAlias = Callable[[Site], Lowered]


@dataclass(slots=True)
class Registry:
    """Node type → lowering function."""

    functions: dict[type[Node], Lowering] = field(default_factory=dict)

    def register(self, node_type: type[Node]) -> Callable[[Lowering], Lowering]:
        def add(function: Lowering) -> Lowering:
            if node_type in self.functions:
                raise ValueError(f"{node_type.__name__} has a lowering already")
            self.functions[node_type] = function
            return function

        return add

    def lower(self, site: Site) -> Lowered:
        return self.functions[type(site.node)](site)


REGISTRY = Registry()

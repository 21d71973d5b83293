"""The wire model of a flow: its nodes and edges, with their references resolved.

In: nothing.  Out: `LoadedFlow`, which `load.py` makes and `build/` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from oas_compiler.component.agent import Loaded
from oas_compiler.component.component import Component
from oas_compiler.ir import Behind, Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEdge:
    source: str
    """Id of a node."""
    branch: str
    target: str
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLink:
    source: str
    output: str
    target: str
    input: str
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedFlow:
    """A Flow component with its nodes and edges; references to other flows are followed."""

    component: Component
    start: Component | None
    """`start_node`; `None` when it is missing or wrong, which was reported."""
    nodes: tuple[Component, ...]
    control: tuple[ControlEdge, ...]
    data: tuple[DataLink, ...] | None
    """`None`: outputs feed inputs of the same name (Agent Spec's null)."""
    subflows: Mapping[str, tuple[LoadedFlow, ...]]
    """By the id of a node: the flows it runs that could be loaded.  A gap of the kind "inside"
    says that the node runs something else, or more.
    """
    behind: Mapping[str, Component]
    """By the id of a node in `nodes`: the tool or agent that it runs, if that is no flow."""
    facts_behind: Mapping[str, Behind]
    """By the id of a node in `nodes`: facts about the tool or agent that it runs, of any type."""
    agents: Mapping[str, Loaded]
    """By the id of a node: the agent that it runs, if that could be loaded."""
    gaps: tuple[Gap, ...]
    """Nodes and edges that could not be read."""
    is_alone: bool = False
    """Whether the document is no flow, but the one node that is here."""

"""An agent of the file with its references resolved, as the reader of a document opens it."""

from __future__ import annotations

from dataclasses import dataclass

from oas_compiler.component.component import Component
from oas_compiler.ir import Behind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedTool:
    """A tool of an agent."""

    component: Component
    facts: Behind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedAgent:
    """An Agent, with everything that it refers to."""

    component: Component
    """The Agent itself; of a SpecializedAgent the agent that is specialized."""
    special: Component | None = None
    """The parameters of a SpecializedAgent."""
    model: Component | None
    """`None` where it is missing or wrong, which was reported."""
    tools: tuple[LoadedTool, ...] = ()

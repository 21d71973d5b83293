"""Agents of the file with their references resolved, as the reader of a document opens them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from oas_compiler.component.component import Component
from oas_compiler.ir import Behind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedTool:
    """A tool of an agent."""

    component: Component
    facts: Behind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedToolbox:
    """An MCPToolBox of an agent, with its transport in the field `client_transport`."""

    component: Component
    facts: Behind
    names: tuple[str, ...] | None = None
    """Tools that the file only names; `None`: all of the server."""
    described: tuple[LoadedTool, ...] = ()
    """Tools that the file describes, each as an MCPTool."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedTransform:
    """What shortens the conversation for the model of an agent."""

    component: Component
    model: Component | None
    """`None` where it is missing or wrong, which was reported."""


class LoadedFlowTool(Protocol):
    """A flow that an agent may run, as the reader of the document opens flows."""

    @property
    def component(self) -> Component: ...

    @property
    def nodes(self) -> tuple[Component, ...]: ...


_NODES_OF_ITS_OWN: Final = 5
"""Start, model, calls, the question to a person, end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedAgent:
    """An Agent, with everything that it refers to."""

    component: Component
    """The Agent itself; of a SpecializedAgent the agent that is specialized."""
    special: Component | None = None
    """The parameters of a SpecializedAgent."""
    model: Component | None
    """`None` where it is missing or wrong, which was reported."""
    tools: tuple[LoadedTool, ...] = ()
    toolboxes: tuple[LoadedToolbox, ...] = ()
    transforms: tuple[LoadedTransform, ...] = ()
    shown: Component
    """What the agent is called: itself, a SpecializedAgent, or a group."""
    workers: tuple[Loaded, ...] = ()
    """The agents that it may give work to: those of a ManagerWorkers, or others of its Swarm."""
    flows: tuple[LoadedFlowTool, ...] = ()
    """The flows that it may run, which only WayFlow's agents have."""

    @cached_property
    def size(self) -> int:
        """How many nodes its flow has, with the flows of its workers."""
        boxes = sum(2 + len(one.described) for one in self.toolboxes)
        workers = sum(1 + one.size for one in self.workers)
        flows = sum(1 + len(one.nodes) for one in self.flows)
        own = len(self.tools) + len(self.transforms)
        return _NODES_OF_ITS_OWN + own + boxes + workers + flows


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedSwarm:
    """A Swarm whose agents hand over to each other; the first of them begins."""

    shown: Component
    members: tuple[LoadedAgent, ...]
    handovers: tuple[tuple[int, ...], ...]
    """For each member those, by their index, to which it may hand over."""

    @cached_property
    def size(self) -> int:
        return sum(one.size for one in self.members)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedRemoteAgent:
    """An A2AAgent, with its connection in the field `connection_config`."""

    shown: Component

    @property
    def size(self) -> int:
        return 4


Loaded = LoadedAgent | LoadedSwarm | LoadedRemoteAgent

"""What a node's function is made of: its plan, its flow, its frame, and what the host lends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from cinatra_sdk.flow.plan import FlowPlan, NodePlan, NodeWork
from cinatra_sdk.values.sensitive import list_secret_texts

if TYPE_CHECKING:  # a plan is read without the engine: by `oasflow emit`, and to show progress
    from cinatra_sdk.engine.runtime_context import Effects
    from cinatra_sdk.flow.frame import Frame
    from cinatra_sdk.lending.host_parts import HostParts
    from cinatra_sdk.platform.protocol import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The host's settings for a flow; the same for every node at every depth."""

    host: HostParts
    policy: Callable[[], dict[str, JsonValue]]
    """Makes the approval policy that holds where the host gives none."""
    guards: Sequence[tuple[int, str, str]] = ()
    """(step, gate, send) that every policy must say something about."""
    digest: str
    max_steps: int
    effects: Effects = "line"
    fuse: bool = True
    """Whether nodes that only compute run in the superstep of the node before them."""
    max_parallel: int | None = None
    """How many branches of one node run at a time; None: as many as the engine lets."""
    rules: Any = field(default=None, repr=False)
    """The rules of a governed flow (`cinatra_sdk.flow.ruled.FlowRules`); None: none govern it."""

    @property
    def platform(self) -> Platform:
        assert self.host.platform is not None  # see `PlannedFlow.host`
        return self.host.platform

    @property
    def tools(self) -> Mapping[str, Callable[..., Any]]:
        return self.host.tools

    @property
    def env(self) -> Mapping[str, str]:
        """Values of placeholders, by name: secrets of the run."""
        return self.host.env

    @property
    def lent_values(self) -> tuple[str, ...]:
        """Values of placeholders and of sensitive fields, to be cut out of whatever is kept."""
        return (*self.env.values(), *list_secret_texts(self.host.secrets))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSite:
    """The place of one node."""

    plan: NodePlan
    flow: FlowPlan
    frame: Frame = field(repr=False)
    wiring: Wiring = field(repr=False)
    depth: int = 0
    """0 in the outermost flow."""
    inline: bool = False
    """Whether the flow runs as a plain function, without a graph."""

    def find_work(self, node_id: str) -> NodeWork:
        """What another node of the flow does."""
        return self.flow.by_id[node_id].work

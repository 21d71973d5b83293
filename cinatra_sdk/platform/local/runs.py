"""What the host knows about a run: whose it is, its project, its package and the package's slots.

    FixedRuns({"r1": RunScope(org_id="o1", actor=ann, package_name="@x/writer", slots=(voice,))})

A request names a run; everything that decides what it may see comes from here instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cinatra_sdk.context.actor import Actor
from cinatra_sdk.context.slots import AgentContextSlot


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScope:
    """One run as the host knows it; what is empty or `None` refuses the calls that need it."""

    org_id: str
    """Organisation of the run; empty: `run_unscoped`."""
    actor: Actor | None
    """The run's owner, of the same organisation; `None`: `actor_unresolved`."""
    package_name: str
    """The agent that runs; empty: `package_unresolved`."""
    slots: tuple[AgentContextSlot, ...] | None
    """The slots of the installed package; `None` where its file is absent: `oas_missing`."""
    project_id: str = ""
    """Wins over the project that a body names."""
    context_id: str = ""
    """The conversation of the run; where it is set, calls of another one are refused."""
    run_token: str = field(default="", repr=False)
    """Where it is set, every call has to carry it."""
    context_nodes: Mapping[str, str] = field(default_factory=dict)
    """Node id → slot id, for selection nodes whose ids are not `ctx-<slotId>-…`."""


class RunDirectory(Protocol):
    """The host's runs; implementations are safe to share between threads."""

    def scope(self, run_id: str) -> RunScope | None:
        """`None` for a run that is not known.

        Raises: `ContextError` where the package's slots cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedRuns:
    """A directory with a fixed content, for a standalone host and for tests."""

    runs: Mapping[str, RunScope] = field(default_factory=dict)

    def scope(self, run_id: str) -> RunScope | None:
        return self.runs.get(run_id)

"""What the host knows about a run: whose it is, its project, its package and the package's slots.

    FixedRuns({"r1": RunScope(org_id="o1", actor=ann, package_name="@x/writer", slots=(voice,))})

    embedded={"@x/drafts": (brand,)}             a child whose flow is copied into the run's own
    inherited={("@x/drafts", "brand"): ParentSelection(run_id="r1", …)}
                                                 a slot that the parent's selection satisfies

A request names a run; everything that decides what it may see comes from here instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from cinatra_sdk.context.actor import Actor
from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.slots import AgentContextSlot


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentSelection:
    """Whose recorded selection satisfies a slot: one of `parentSatisfiedContextSlots`, as it runs.

    The host vouches that the owner of the child's run may have what the parent chose.
    """

    run_id: str
    """The parent's run, of the same organisation; the same run where the child is embedded."""
    package_name: str
    slot_id: str


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
    embedded: Mapping[str, tuple[AgentContextSlot, ...]] = field(default_factory=dict)
    """Package → its slots, for child agents whose flows the run holds a copy of."""
    inherited: Mapping[tuple[str, str], ParentSelection] = field(default_factory=dict)
    """(package, slot id) → the selection that stands for one of the slot's own."""

    def slots_of(self, package_name: str) -> tuple[AgentContextSlot, ...]:
        """The slots of a package that takes part in the run.

        Raises: `ContextError` `package_unresolved`, `package_mismatch`, `oas_missing`.
        """
        if not self.package_name:
            raise ContextError("package_unresolved", "the run's package is not known")
        if package_name != self.package_name:
            if package_name not in self.embedded:
                raise ContextError("package_mismatch", "the run is not one of the package named")
            return self.embedded[package_name]
        if self.slots is None:
            raise ContextError("oas_missing", f"{self.package_name} is not installed")
        return self.slots


class RunDirectory(Protocol):
    """The host's runs; implementations are safe to share between threads."""

    def scope(self, run_id: str) -> RunScope | None:
        """`None` for a run that is not known.

        Raises: `ContextError` where the package's slots cannot be read.
        """
        ...


@runtime_checkable
class KnowsConversations(Protocol):
    """A directory that can tell which run a conversation belongs to.

    Without it no bearer names a conversation in a call that is handed on.
    """

    def run_of_conversation(self, context_id: str) -> str | None:
        """The id of the one run with this `context_id`; `None` where there is none, or several."""
        ...


@dataclass(frozen=True, slots=True)
class FixedRuns:
    """A directory with a fixed content, for a standalone host and for tests."""

    runs: Mapping[str, RunScope] = field(default_factory=dict)

    def scope(self, run_id: str) -> RunScope | None:
        return self.runs.get(run_id)

    def run_of_conversation(self, context_id: str) -> str | None:
        found = [id_ for id_, scope in self.runs.items() if scope.context_id == context_id != ""]
        return found[0] if len(found) == 1 else None

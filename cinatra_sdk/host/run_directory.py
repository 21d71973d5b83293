"""The host's knowledge about a run: its owner, its project, its package and the package's slots.

    FixedRuns({"r1": RunScope(org_id="o1", actor=ann, package_name="@x/writer", slots=(voice,))})

    embedded={"@x/drafts": (brand,)}             a child whose flow is copied into the run's own
    inherited={("@x/drafts", "brand"): ParentSelection(run_id="r1", …)}
                                                 a slot that the parent's selection satisfies

A request only names a run; this knowledge, not the request, decides what the run may see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol, runtime_checkable

from cinatra_sdk.context.candidates import Actor
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentSelection:
    """The parent's recorded selection that satisfies a slot, by `parentSatisfiedContextSlots`.

    The host vouches that the owner of the child's run may use the parent's choice.
    """

    run_id: str
    """The parent's run, in the same organisation; the same run where the child is embedded."""
    package_name: str
    slot_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScope:
    """One run as the host knows it.  An empty or `None` field refuses the calls that need it."""

    org_id: str
    """Organisation of the run; empty refuses with `run_unscoped`."""
    actor: Actor | None
    """The run's owner, in the same organisation; `None` refuses with `actor_unresolved`."""
    package_name: str
    """The running agent; empty refuses with `package_unresolved`."""
    slots: tuple[AgentContextSlot, ...] | None
    """The slots of the installed package; `None` (its file is missing) refuses with
    `oas_missing`.
    """
    project_id: str = ""
    """Replaces the project that a body names."""
    context_id: str = ""
    """The conversation of the run; if set, calls of another conversation are refused."""
    run_token: str = field(default="", repr=False)
    """If set, every call must carry it."""
    context_nodes: Mapping[str, str] = field(default_factory=dict)
    """Node id → slot id, for selection nodes whose ids are not `ctx-<slotId>-…`."""
    embedded: Mapping[str, tuple[AgentContextSlot, ...]] = field(default_factory=dict)
    """Package → its slots, for child agents whose flows are copied into the run's flow."""
    inherited: Mapping[tuple[str, str], ParentSelection] = field(default_factory=dict)
    """(package, slot id) → the parent's selection that replaces a selection for this slot."""

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
        """The run `run_id`; `None` for an unknown run.

        Raises: `ContextError` where the package's slots cannot be read.
        """
        ...


@runtime_checkable
class KnowsConversations(Protocol):
    """A directory that knows the run of a conversation.

    Without this method, a bearer's forwarded call cannot name a conversation.
    """

    def run_of_conversation(self, context_id: str) -> str | None:
        """The id of the only run with this `context_id`; `None` where no run or several runs have
        it.
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedRuns:
    """A fixed directory, for a standalone host and for tests."""

    runs: Mapping[str, RunScope] = field(default_factory=dict)

    def scope(self, run_id: str) -> RunScope | None:
        return self.runs.get(run_id)

    def run_of_conversation(self, context_id: str) -> str | None:
        found = [id_ for id_, scope in self.runs.items() if scope.context_id == context_id != ""]
        return found[0] if len(found) == 1 else None

"""What a branch that begins again as a task is told of its run without one.

    hand_on(branch, notes)      the same branch, whose task knows what had ended, and paused, in it
    read_handed(config)         in a node of the branch: those notes; empty ones in any other node

A node inside would otherwise run all its branches again, those that have ended, too.  The notes hold
for the task alone: a tool may run another graph in it, whose branches have the same places.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from cinatra_sdk.flow.branches import Branch
from cinatra_sdk.flow.engine import read_namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchNotes:
    """What came of the branches of a node, and of the nodes inside them; by their places in the run."""

    results: MutableMapping[str, Any] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)
    """Those that only a task can go on with."""

    def copy(self) -> BranchNotes:
        """Notes that begin with these, and leave the results of these as they are."""
        return BranchNotes(results=ChainMap({}, self.results), paused=self.paused)


_HANDED: Final[ContextVar[tuple[str, BranchNotes] | None]] = ContextVar(
    "oasflow_handed", default=None
)


def hand_on(branch: Branch, notes: BranchNotes) -> Branch:
    """The branch, to be run as a task."""

    def run() -> Any:
        _HANDED.set((read_namespace(get_config()), notes))
        return branch.run()

    async def arun() -> Any:
        _HANDED.set((read_namespace(get_config()), notes))
        return await branch.arun()

    return Branch(branch.name, run, arun, branch.place)


def read_handed(config: RunnableConfig) -> BranchNotes:
    """config: of the node."""
    handed = _HANDED.get()
    if handed is None or handed[0] != read_namespace(config):
        return BranchNotes()
    return handed[1]

"""A flow without a gate, run as a plain function: no superstep, and no checkpoint inside.

A graph inside a node costs several times what a function does.  Where no person is asked inside,
nothing has to be kept in the middle either: what is begun again after a crash makes the same calls
under the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.names import MESSAGES
from cinatra_sdk.flow.state_after import StateAfter
from cinatra_sdk.flow.visiting import NodeVisit, Surroundings
from cinatra_sdk.governed.state import unseal

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InlineFlow:
    """The nodes of one flow by their ids."""

    start: str
    """Id of the StartNode."""
    nodes: dict[str, tuple[Surroundings, NodeVisit]] = field(default_factory=dict)

    def add_node(self, about: Surroundings, body: NodeBody) -> None:
        self.nodes[about.frame.id] = about, NodeVisit(about, body)

    def run(
        self, entered: State, config: RunnableConfig, runtime: Runtime[HostContext]
    ) -> dict[str, Any]:
        """The state after the flow's end; entered: the sealed input of the flow.

        Raises: what its nodes raise.
        """
        after = StateAfter(_open_entered(entered))
        following = self.start
        while following:
            about, visit = self.nodes[following]
            self._require_steps_left(about, after)
            following = after.take(about.frame, visit.work(after.state, config, runtime))
        return after.collect()

    async def arun(
        self, entered: State, config: RunnableConfig, runtime: Runtime[HostContext]
    ) -> dict[str, Any]:
        """As `run`, for an event loop."""
        after = StateAfter(_open_entered(entered))
        following = self.start
        while following:
            about, visit = self.nodes[following]
            self._require_steps_left(about, after)
            following = after.take(about.frame, await visit.awork(after.state, config, runtime))
        return after.collect()

    def _require_steps_left(self, about: Surroundings, after: StateAfter) -> None:
        if about.frame.id != self.start:  # which makes the cursor
            about.frame.require_steps_left(after.state)


def _open_entered(entered: State) -> dict[str, Any]:
    return {MESSAGES: [], **{key: unseal(value) for key, value in entered.items()}}

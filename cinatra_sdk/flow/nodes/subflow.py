"""A flow inside a node: a real subgraph, so that a gate inside pauses the whole run.

The function around the subgraph only maps values: the engine runs it again when the run is resumed,
and the subgraph goes on from its own checkpoint.  The result counts only if the subflow's own end
has sealed it: a client of a graph server could write a status into the subflow's state and leave it
without a task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from cinatra_sdk.engine.acting import allows_forks, arefuse_forks, refuse_forks
from cinatra_sdk.engine.lineage import place_of
from cinatra_sdk.engine.reentry import (
    Visit,
    ago_on_inside,
    arequire_line_inside,
    go_on_inside,
    require_line_inside,
)
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import MISSING, Frame, pin_of, with_seen
from cinatra_sdk.flow.names import BRANCH, CURSOR, DECISIONS, ENDED, INPUTS, MESSAGES, OUTPUTS
from cinatra_sdk.gates.gate import label
from cinatra_sdk.governed.state import seal

State = Mapping[str, Any]
_READ = [OUTPUTS, BRANCH, MESSAGES, DECISIONS, ENDED, "rejected_at"]
"""What the parent reads of the subflow: sealed, but for a rejection, which only ends the run."""


def make_subflow(
    frame: Frame,
    subgraph: CompiledStateGraph[Any, Any, Any, Any],
    *,
    digest: str,
    acts: bool,
    asks: bool,
) -> NodeBody:
    """acts: a node inside, at any depth, acts on the world outside.  asks: a gate stands inside."""
    border = SubflowBorder(frame, digest, acts=acts, asks=asks)

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        # Nodes inside see the subflow's own line; that of this graph is looked at here, for them.
        # Where only gates stand inside, whatever acts after them looks itself.
        if acts:
            seen = refuse_forks(
                state,
                runtime,
                node=frame.where,
                effects=frame.effects,
                since=frame.seen_before(state),
            )
            state = with_seen(state, seen)
        visit = border.visit(state, config, runtime)
        result = go_on_inside(visit)
        if result is None:
            result = subgraph.invoke(border.enter(state), config, output_keys=_READ)
            require_line_inside(visit)
        return border.leave(state, result)

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        if acts:
            seen = await arefuse_forks(
                state,
                runtime,
                node=frame.where,
                effects=frame.effects,
                since=frame.seen_before(state),
            )
            state = with_seen(state, seen)
        visit = border.visit(state, config, runtime)
        result = await ago_on_inside(visit)
        if result is None:
            result = await subgraph.ainvoke(border.enter(state), config, output_keys=_READ)
            await arequire_line_inside(visit)
        return border.leave(state, result)

    reads = ("bearer_token", "approval_policy", "rejected_at", "status")
    return NodeBody(run=run, arun=arun, reads=reads, acts=acts, subgraph=subgraph, chooses=True)


class SubflowBorder:
    """The values that pass between the flow and the subflow."""

    def __init__(self, frame: Frame, digest: str, *, acts: bool, asks: bool) -> None:
        self.frame = frame
        self._inner_pin = pin_of(digest, frame.path)
        self.acts = acts
        """Whether a node inside, at any depth, acts on the world outside."""
        self._asks = asks
        """Whether a gate stands inside, at any depth."""

    def scope(self, state: State) -> str:
        own, around = label(self.frame.id, self.frame.visit(state)), state["run"]["scope"]
        return f"{around}/{own}" if around else own

    def visit(
        self, state: State, config: RunnableConfig, runtime: Runtime[HostContext]
    ) -> Visit | None:
        """The visit of the subflow, where checkpoints are kept.

        None also for a subflow that only computes: gone through twice, it comes to the same.
        """
        if not self.acts and not self._asks:
            return None
        place = place_of(config, runtime.execution_info)
        if place is None:
            return None
        return Visit(
            place=place,
            own=runtime.execution_info.checkpoint_ns if runtime.execution_info else "",
            scope=self.scope(state),
            told=True,
            turn=state[CURSOR]["seq"],
            node=self.frame.where,
            forks=allows_forks(runtime, self.frame.effects),
            asks=self._asks,
        )

    def enter(self, state: State) -> dict[str, Any]:
        frame = self.frame
        given = {plan.title: frame.look_up(plan, state) for plan in frame.inputs}
        inputs = {title: value for title, value in given.items() if value is not MISSING}
        return {
            INPUTS: seal(inputs),
            "bearer_token": seal(state["bearer_token"]),
            "approval_policy": seal(state["approval_policy"]),
            "run": seal({**state["run"], "scope": self.scope(state), "pin": self._inner_pin}),
        }

    def leave(self, state: State, result: State | None) -> Any:
        frame, result = self.frame, result or {}
        kept = {key: seal(result[key]) for key in (MESSAGES, DECISIONS) if result.get(key)}
        if result.get("rejected_at"):
            more = {**kept, "rejected_at": result["rejected_at"], "status": "rejected"}
            return frame.pass_turn(state, {"out": {}}, None, more)
        if result.get(ENDED) != {"scope": self.scope(state)}:
            raise frame.failed(
                "its subflow stopped before it reached an end",
                hint="something wrote into its state from outside; start a new run",
            )
        branch = result[BRANCH]
        return frame.finish(state, result[OUTPUTS], branch=branch, more=kept)

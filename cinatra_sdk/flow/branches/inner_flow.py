"""A flow inside a node: its inputs go in, it runs, its outputs come out.

    inner.run(InnerEntry(inputs={"topic": "x"}, scope="outer/each[3]"), …)  ->  {"ended": …, "outputs": …}

A flow with a gate is a real subgraph, so that the gate pauses the whole run and nothing runs twice.
Any other flow may run as a plain function.  The result counts only if the
end of the inner flow has sealed it: a client of a graph server could write a status into the state of
the subflow, and leave the subflow without a task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from cinatra_sdk.flow.branches.branches import listening_for_a_cut
from cinatra_sdk.flow.plan.casts import CastError, caster
from cinatra_sdk.flow.plan.channel_names import (
    BRANCH,
    CURSOR,
    DECISIONS,
    ENDED,
    INPUTS,
    MESSAGES,
    OUTPUTS,
)
from cinatra_sdk.flow.plan.frame import MISSING, Frame, NodeBody, pin_of
from cinatra_sdk.flow.plan.plan import FlowPlan, NodeSite, Path, walk_plan
from cinatra_sdk.flow.visit.fusion import StateAfter, join_growing
from cinatra_sdk.flow.visit.state_graph import list_surroundings, make_graph, make_places
from cinatra_sdk.flow.visit.talk import read_conversation
from cinatra_sdk.flow.visit.visit import NodeVisit, Surroundings
from cinatra_sdk.gates.gate import label
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of, hearing
from cinatra_sdk.langgraph_threads.lineage import allows_forks, place_of
from cinatra_sdk.langgraph_threads.list_channels import without_seals
from cinatra_sdk.langgraph_threads.reentry import (
    Visit,
    ago_on_inside,
    aread_cut,
    arequire_line_inside,
    go_on_inside,
    read_cut,
    require_line_inside,
)
from cinatra_sdk.langgraph_threads.state_channels import seal, unseal
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# A flow without a gate, run as a plain function: no superstep, and no checkpoint inside.
#
# A graph inside a node costs several times as much as a function.  Where no person is asked inside, no
# checkpoint inside is needed either: a function that begins again after a crash makes the same calls under
# the same keys.


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


READS = ("bearer_token", "approval_policy", "rejected_at", "status", MESSAGES)
"""State keys of a node that runs flows, beyond its frame's."""
_RESULT = [OUTPUTS, BRANCH, MESSAGES, DECISIONS, ENDED, "rejected_at"]
"""What is read of an inner flow: sealed, but for a rejection, which only ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerEntry:
    """One run of an inner flow."""

    state: State
    """Of the node around it."""
    inputs: Mapping[str, Any]
    scope: str
    """The place of the inner flow in the run: `outer/each[3]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerResult:
    """What an inner flow came to."""

    rejected_at: str = ""
    """Time of the rejection that ended it; then nothing else counts."""
    failed: str = ""
    """The failure that ended it, in words, where its node goes on after one; it has no outputs."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    branch: str = ""
    messages: tuple[Any, ...] = ()
    decisions: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowInside:
    """One flow that a node runs."""

    frame: Frame
    """Of the node."""
    around: tuple[str, ...]
    """The node's path; with `[1]` as a further part for the second of several flows."""
    digest: str
    graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
    inline: InlineFlow | None = None
    """Instead of the graph: no gate is inside."""
    acts: bool
    """Whether a node inside, at any depth, acts on the world outside."""
    asks: bool
    """Whether a gate stands inside, at any depth."""
    alone: bool = False
    """Whether it has a conversation of its own: it hears nothing, and nothing of it is heard."""
    casts: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Output → to the type that the node declares for it, where that is not the flow's."""

    def run(
        self, entry: InnerEntry, config: RunnableConfig, runtime: Runtime[HostContext], own: str
    ) -> dict[str, Any]:
        """Begin or go on; own: the namespace under which a graph keeps its checkpoints.

        Raises: what nodes inside raise, also a pause.
        """
        entered, heard = self._enter(entry), self._listen(entry, runtime)
        if self.graph is None:
            assert self.inline is not None
            inside = runtime if heard is None else runtime.override(context=heard)
            return _choose_result(self.inline.run(entered, config, inside))
        visit = self._describe_visit(entry, config, runtime, own)
        result = go_on_inside(visit)
        if result is None:
            with listening_for_a_cut() as was_cut:
                try:
                    result = self.graph.invoke(entered, config, context=heard, output_keys=_RESULT)
                except GraphInterrupt:
                    if visit is None or not was_cut():
                        raise
                    result = read_cut(visit)
            require_line_inside(visit)
        return dict(result or {})

    async def arun(
        self, entry: InnerEntry, config: RunnableConfig, runtime: Runtime[HostContext], own: str
    ) -> dict[str, Any]:
        """As `run`, for an event loop."""
        entered, heard = self._enter(entry), self._listen(entry, runtime)
        if self.graph is None:
            assert self.inline is not None
            inside = runtime if heard is None else runtime.override(context=heard)
            return _choose_result(await self.inline.arun(entered, config, inside))
        visit = self._describe_visit(entry, config, runtime, own)
        result = await ago_on_inside(visit)
        if result is None:
            with listening_for_a_cut() as was_cut:
                try:
                    result = await self.graph.ainvoke(
                        entered, config, context=heard, output_keys=_RESULT
                    )
                except GraphInterrupt:
                    if visit is None or not was_cut():
                        raise
                    result = await aread_cut(visit)
            await arequire_line_inside(visit)
        return dict(result or {})

    def read(self, result: Mapping[str, Any], scope: str) -> InnerResult:
        """What an inner flow came to; raises `NodeFailed` where it has not reached an end."""
        kept: dict[str, Any] = {
            "messages": tuple(result.get(MESSAGES) or ()),
            "decisions": tuple(without_seals(result.get(DECISIONS) or ())),
        }
        if result.get("rejected_at"):
            # Also of a flow that is alone: nobody goes on, and whoever looks sees what was said.
            return InnerResult(rejected_at=result["rejected_at"], **kept)
        if self.alone:
            kept["messages"] = ()
        if result.get(ENDED) != {"scope": scope}:
            raise self.frame.failed(
                "its subflow stopped before it reached an end",
                hint="something wrote into its state from outside; start a new run",
            )
        return InnerResult(outputs=self._cast(result[OUTPUTS]), branch=result[BRANCH], **kept)

    def _cast(self, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.casts:
            return outputs
        changed: dict[str, Any] = {}
        for title, to in self.casts.items():
            try:
                changed[title] = to(outputs[title])
            except CastError as error:
                raise self.frame.failed(f"output '{title}': {error}") from None
        return {**outputs, **changed}

    def _enter(self, entry: InnerEntry) -> dict[str, Any]:
        state = entry.state
        pin = pin_of(self.digest, self.around)
        return {
            INPUTS: seal(entry.inputs),
            "bearer_token": seal(state["bearer_token"]),
            "approval_policy": seal(state["approval_policy"]),
            "run": seal({**state["run"], "scope": entry.scope, "pin": pin}),
        }

    def _listen(self, entry: InnerEntry, runtime: Runtime[HostContext]) -> HostContext | None:
        """The context of the inner flow, with what was said before it; None: that of the node."""
        before = context_of(runtime.context)
        heard = [] if self.alone else read_conversation(entry.state, runtime.context)
        return hearing(before, heard) if heard or before.heard else None

    def _describe_visit(
        self, entry: InnerEntry, config: RunnableConfig, runtime: Runtime[HostContext], own: str
    ) -> Visit | None:
        """The visit of the inner flow, where checkpoints are kept.

        None also for a flow that only computes: gone through twice, it comes to the same.
        """
        if not self.acts and not self.asks:
            return None
        place = place_of(config, runtime.execution_info)
        if place is None:
            return None
        return Visit(
            place=place,
            own=own,
            scope=entry.scope,
            told=True,
            turn=entry.state[CURSOR]["seq"],
            node=self.frame.where,
            forks=allows_forks(runtime, self.frame.effects),
            asks=self.asks,
        )


def _choose_result(state: State) -> dict[str, Any]:
    return {key: state[key] for key in _RESULT if key in state}


def scope_inside(state: State, own: str) -> str:
    """The scope of a flow inside the node whose state this is; own: its label there."""
    around = state["run"]["scope"]
    return f"{around}/{own}" if around else own


def enter_with_own_inputs(frame: Frame, state: State) -> InnerEntry:
    """The one run of an inner flow that takes the inputs of its node."""
    given = {plan.title: frame.look_up(plan, state) for plan in frame.inputs}
    inputs = {title: value for title, value in given.items() if value is not MISSING}
    scope = scope_inside(state, label(frame.id, frame.visit(state)))
    return InnerEntry(state=state, inputs=inputs, scope=scope)


def own_namespace(runtime: Runtime[HostContext]) -> str:
    """The namespace of the graph inside the node that runs; empty where no checkpoint is kept."""
    return runtime.execution_info.checkpoint_ns if runtime.execution_info else ""


def leave_rejected(frame: Frame, state: State, results: list[InnerResult]) -> dict[str, Any]:
    """The update that ends the run as rejected: no node is named next, so none can run."""
    at = min(result.rejected_at for result in results if result.rejected_at)
    more = {**join_talk(results), "rejected_at": at, "status": "rejected"}
    return frame.pass_turn(state, {"out": {}}, None, more)


def join_talk(results: list[InnerResult]) -> dict[str, Any]:
    """The messages and decisions of inner flows, in order, as an update of the state."""
    messages = [one for result in results for one in result.messages]
    decisions = [one for result in results for one in result.decisions]
    return join_growing({MESSAGES: messages, DECISIONS: decisions})


# ----------------------------------------------------------------------------
# Makes the flows inside a node: graphs where a person is asked inside, else plain functions.


def make_inside(
    site: NodeSite,
    flow: FlowPlan,
    around: Path,
    *,
    as_graph: bool,
    alone: bool = False,
    renames: bool = False,
) -> FlowInside:
    """One flow of the node at `site`.

    around:   its path, as the walk over the outermost flow has it.
    alone:    with a conversation of its own.
    renames:  the node has outputs of its own names; else they are brought to its types here.
    as_graph: a graph also without a gate inside, for pictures and for going on in its middle.
    """
    inside = [inner.work for inner in walk_plan(flow)]
    acts = any(work.acts for work in inside)
    wiring, depth = site.wiring, site.depth + 1
    ruled = wiring.rules is not None and acts  # any of them may have to ask a person
    asks = ruled or any(work.asks or work.asks_person for work in inside)
    graph = inline = None
    if asks or (as_graph and not site.inline):
        graph = make_graph(flow, wiring, around=around, depth=depth).compile(name=flow.id)
    else:
        # The line of the thread is looked at once, by the node around.
        own = replace(wiring, effects="forks")
        inline = InlineFlow(flow.start)
        for place, body in make_places(flow, own, around, depth, inline=True):
            inline.add_node(list_surroundings(place, None), body)
    return FlowInside(
        frame=site.frame,
        around=around,
        digest=wiring.digest,
        graph=graph,
        inline=inline,
        acts=acts,
        asks=asks,
        alone=alone,
        casts={} if renames else _list_casts(flow, site),
    )


def _list_casts(flow: FlowPlan, site: NodeSite) -> dict[str, Callable[[Any], Any]]:
    """Output of the flow → to the type that the node declares, where that is another one."""
    own = {port.title: port.type for port in site.plan.outputs}
    casts = {
        port.title: caster(port.type, own[port.title]) for port in flow.outputs if port.title in own
    }
    return {title: to for title, to in casts.items() if to is not None}

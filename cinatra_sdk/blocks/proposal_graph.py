"""A change of tastes or notes, written once a person approves it: as a node and as a graph.

    graph.add_node("remember", propose_and_confirm(
        Places(workspace="work"), node="remember",
        inputs={"kind": "taste", "category": "appearance", "content": "{{ child_output.text }}"},
        after="draft"))

    asks    {"proposal": {"kind": "taste", "file": "_default.md", "category": …, "content": …}}
    state   {"remember_output": {"file": "_default.md", "added": True}}     approved
    state   {"status": "rejected", "rejected_at": …}                        rejected: nothing is written

    host_node → propose → review → write → terminal_node

The gate always asks, whatever the approval policy says: only a person changes tastes and notes (ADR-031).
The written text is the shown text, because the proposal is sealed before the gate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from pydantic import JsonValue
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import (
    INPUT_PARAMS,
    gate_once,
    keep_decision,
    seal_host_fields,
    terminal_node,
)
from cinatra_sdk.blocks.inner_graph import subgraph
from cinatra_sdk.blocks.step import NodeRunnable, State, Step, effect_key, node_of
from cinatra_sdk.contract import FALLBACK_RENDERER
from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn.proposals import Places, Proposal, make_note, make_taste, write_proposal
from cinatra_sdk.first_turn.workspace import find_image
from cinatra_sdk.gates.gate import label
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.lineage import (
    arefuse_forks,
    does_not_act,
    refuse_forks,
    seen_update,
)
from cinatra_sdk.langgraph_threads.serializer import with_strict_serializer
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from cinatra_sdk.langgraph_threads.tasks import telling_node, visit_of, visited
from cinatra_sdk.outside.effects.effect import Effect, EffectResult
from cinatra_sdk.outside.effects.execution import aperform, perform

NODES: Final = ("host_node", "propose", "review", "write", "terminal_node")
PROPOSAL: Final = "proposal"
DECISION: Final = "review_decision"
WRITTEN: Final = "write_output"
INPUTS: Final[dict[str, dict[str, JsonValue]]] = {
    "kind": {"enum": ["taste", "note"]},
    "content": {"type": "string"},
    "category": {"type": "string", "default": ""},
    "file": {"type": "string", "default": ""},
    "image_id": {"type": "string", "default": ""},
}
"""`category` and `file` are those of a taste, `image_id` that of a note."""

Object = Annotated[dict[str, Any], HostOnly]


class ProposingInput(TypedDict, total=False):
    """What a caller sends; a caller cannot set any other key."""

    kind: str
    content: str
    category: str
    file: str
    image_id: str


class _InsideInput(ProposingInput, total=False):
    """The input from a graph around this one: also the governed keys of that graph, sealed."""

    bearer_token: Annotated[str, HostOnly]
    approval_policy: Annotated[Any, HostOnly]
    run: Object


class ProposingState(GovernedState):
    kind: str
    content: str
    category: str
    file: str
    image_id: str
    input_params: Object
    proposal: Object
    review_decision: Object
    write_output: Object


class ProposingOutput(TypedDict, total=False):
    status: str
    rejected_at: str
    write_output: Object


def propose_and_confirm(
    places: Places,
    *,
    node: str,
    inputs: Mapping[str, JsonValue],
    step_number: int = 1,
    renderer: str = FALLBACK_RENDERER,
    after: str = "",
    into: str | Mapping[str, str] = "",
    sealed: bool = False,
) -> NodeRunnable:
    """A node that proposes, asks a person, and writes what was approved.

    places: the folders that are written to.
    inputs: `kind` (`taste` or `note`), `content`, and `category`, `file` or `image_id`; templates
            over the state.
    step_number, renderer: of the gate, as for `build_hitl_gate`.
    after, into, sealed: as for `subgraph`.

    A rejection rejects the run.
    Raises (when it runs): `InputInvalid`, `ProposalInvalid`, `ImageNotFound`, `NodeFailed`.
    """
    graph = _compile_graph(places, _InsideInput, None, step_number, renderer)
    outputs: dict[str, JsonValue] = {
        "file": "{{ write_output.file }}",
        "added": "{{ write_output.added }}",
    }
    return subgraph(
        graph, node=node, inputs=inputs, outputs=outputs, after=after, into=into, sealed=sealed
    )


def build_proposing_graph(
    places: Places,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    step_number: int = 1,
    renderer: str = FALLBACK_RENDERER,
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    """A graph with these nodes alone; its inputs are `INPUTS`."""
    return _compile_graph(places, ProposingInput, checkpointer, step_number, renderer)


def _compile_graph(
    places: Places,
    takes: type[ProposingInput],
    checkpointer: BaseCheckpointSaver[Any] | None,
    step_number: int,
    renderer: str,
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    builder: StateGraph[Any, HostContext, Any, Any] = StateGraph(
        ProposingState,
        context_schema=HostContext,
        input_schema=takes,
        output_schema=ProposingOutput,
    )
    asking = build_hitl_gate(
        step_number=step_number,
        node="review",
        values=lambda state: {PROPOSAL: state[PROPOSAL]},
        always=True,
        write=keep_decision(DECISION, node="review", step_number=step_number),
        renderer=renderer,
    )
    nodes: dict[str, Any] = {
        "host_node": seal_host_fields(inputs=INPUTS),
        "propose": _build_proposing_node(places),
        "review": gate_once(DECISION, asking, requires=(PROPOSAL,)),
        "write": _build_writing_node(places),
        "terminal_node": terminal_node(requires=(DECISION, WRITTEN)),
    }
    for name in NODES:
        builder.add_node(name, nodes[name])
    for before, following in zip((START, *NODES), (*NODES, END), strict=True):
        builder.add_edge(before, following)
    saver = None if checkpointer is None else with_strict_serializer(checkpointer)
    return builder.compile(checkpointer=saver, name="propose_and_confirm")


def _build_proposing_node(places: Places) -> NodeRunnable:
    step = Step(node="propose", into=PROPOSAL, sealed=True)

    def run(state: State) -> dict[str, Any]:
        if not step.has_work(state):
            return {}
        proposal = _make_proposal(state[INPUT_PARAMS])
        if proposal.kind == "note":
            find_image(places.workspace, proposal.image_id)  # nobody is asked in vain
        return step.update(proposal.to_json())

    async def arun(state: State) -> dict[str, Any]:
        return await asyncio.to_thread(run, state)

    return does_not_act(node_of("propose", run, arun))


def _make_proposal(given: Mapping[str, Any]) -> Proposal:
    if given["kind"] == "note":
        return make_note(content=given["content"], image_id=given["image_id"])
    return make_taste(content=given["content"], category=given["category"], file=given["file"])


def _build_writing_node(places: Places) -> NodeRunnable:
    step = Step(node="write", into=WRITTEN, needs=(DECISION,), sealed=True)

    def run(state: State) -> dict[str, Any]:
        if not step.has_work(state):
            return {}
        runtime, since = get_runtime(HostContext), state.get("seen", "")
        seen = refuse_forks(state, runtime, node=step.node, effects=step.effects, since=since)
        visit = visit_of(step.node)
        with telling_node(path=step.place(state), visit=visit or 1):
            effect = _make_effect(step, state, visit)
            door = context_of(runtime.context).door
            made = perform(effect, lambda: _write(step, places, state), door)
        return {**step.update(_outputs_of(made)), **seen_update(seen), **visited(step.node, visit)}

    async def arun(state: State) -> dict[str, Any]:
        if not step.has_work(state):
            return {}
        runtime, since = get_runtime(HostContext), state.get("seen", "")
        seen = await arefuse_forks(
            state, runtime, node=step.node, effects=step.effects, since=since
        )
        visit = visit_of(step.node)
        with telling_node(path=step.place(state), visit=visit or 1):
            effect = _make_effect(step, state, visit)
            door = context_of(runtime.context).door
            made = await aperform(
                effect, lambda: asyncio.to_thread(_write, step, places, state), door
            )
        return {**step.update(_outputs_of(made)), **seen_update(seen), **visited(step.node, visit)}

    return node_of("write", run, arun)


def _make_effect(step: Step, state: State, visit: int | None) -> Effect:
    identity: Mapping[str, str] = state.get("run") or {}
    scope = identity.get("scope", "")
    return Effect(
        kind="tool",
        capability=f"write_{state[PROPOSAL]['kind']}",
        node=step.node,
        path=f"{scope}/{step.node}" if scope else step.node,
        place=step.place(state),
        visit=visit or 1,
        arguments=dict(state[PROPOSAL]),
        risk="write",
        key=effect_key(identity, label(step.node, visit or 1)),
        run_id=identity.get("run_id", ""),
    )


def _write(step: Step, places: Places, state: State) -> EffectResult:
    told = dict(state[PROPOSAL])
    proposal = Proposal(id=told.pop("proposal_id"), **told)
    problem = ""
    try:
        done = write_proposal(places, proposal, once=True)
    except FlowError as error:
        problem = str(error)
    if problem:
        raise step.failed(problem)
    return EffectResult(value={"file": done.file, "added": done.added})


def _outputs_of(made: EffectResult) -> dict[str, JsonValue]:
    assert isinstance(made.value, dict)  # made by `_write`, or stored from it
    return made.value

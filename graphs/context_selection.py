"""Context selection as a graph: the public selection agent, for graphs that are written by hand.

In: `parentPackageName`, `slotId`; `parentRunId` (empty: this run's own id), `projectId`.
Out: `contextRefs` and `contextSlotBindings`, one list under both names: `[{"slotId", "refs":
[…]}]`.

    start                   the governed keys, sealed
    resolve_context         POST /api/context-resolve: candidates, slotMeta, preselected refs
    select_mode             an autonomous slot goes around the gate
    emit_context_payload    the data that the gate shows
    context_select_gate     gate, step 1: the ContextSelector screen
    finalize_interactive    POST /api/context-finalize: the person's choice is checked and recorded
    finalize_autonomous     the same with the preselected refs
    end                     the bindings; or rejected

A choice cannot be recorded when one of its artifacts went away after the decision.  Such a choice
is taken back: the slot is resolved again and a person is asked again.  Every decision stays in
`decisions`.

    builder.add_node("context_voice", context_selection(
        platform, node="context_voice", slot_id="voice", package_name="@acme/writer"))
    state  {"context_voice_output": {"contextRefs": […], "contextSlotBindings": […]}}

The nodes have the ids of the public agent's flow, because a host recognises a signed call by them.
The gate itself refuses an answer that the slot does not allow.  A slot that needs more refs than
there are candidates stops the run before a person is asked; an autonomous slot stops it when the
selection is finalized.

Source: Cinatra's guide to context slots, and the routes of its platform (docs/context-slots.md).
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Hashable, Mapping
from typing import Annotated, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import JsonValue
from typing_extensions import TypedDict

from cinatra_sdk import (
    GovernedState,
    HostContext,
    NodeFailed,
    Platform,
    PlatformError,
    build_hitl_gate,
)
from cinatra_sdk.blocks import (
    Appended,
    Effects,
    GateNode,
    HostOnly,
    Latest,
    NodeRunnable,
    Outcome,
    PlatformStep,
    Step,
    end_of,
    ending,
    gate_id,
    gate_once,
    gate_visit,
    has_ended,
    node_of,
    on_own_threads,
    seal,
    seal_host_fields,
    subgraph,
    was_sent,
    with_strict_serializer,
)
from cinatra_sdk.context.candidates import (
    MOST_ALONE,
    MOST_ASKED,
    OUTDATED,
    REFUSED_KEY,
    refusal_of,
)
from cinatra_sdk.context.selector import RENDERER
from cinatra_sdk.platform import PlatformCall
from graphs.platform import effects_of, platform_of
from graphs.selection_words import (
    FINALIZE_URL,
    FINALIZED,
    GATE,
    INPUTS,
    NODES,
    OF_ONE_CHOICE,
    PINNED,
    POLICY,
    RESOLVE_URL,
    RESOLVED,
    SAMPLES,
    STEP,
)

__all__ = ["build_graph", "context_selection", "graph"]

Object = Annotated[dict[str, Any], HostOnly]
Bindings = Annotated[list[dict[str, Any]], HostOnly]


class Input(TypedDict, total=False):
    """What a caller sends; a caller cannot set any other key."""

    parentRunId: str
    parentPackageName: str
    slotId: str
    projectId: str


class InsideInput(Input, total=False):
    """The input from a graph around this one: also the governed keys of that graph, sealed."""

    bearer_token: Annotated[str, HostOnly]
    approval_policy: Annotated[Any, HostOnly]
    run: Annotated[dict[str, Any], HostOnly]


class Output(TypedDict, total=False):
    """What a caller receives."""

    status: str
    rejected_at: str
    contextRefs: Bindings
    contextSlotBindings: Bindings


class State(GovernedState):
    """Every state key of the nodes."""

    parentRunId: str
    parentPackageName: str
    slotId: str
    projectId: str
    input_params: Object
    resolve_context_output: Annotated[dict[str, Any], Latest]
    emit_context_payload_output: Annotated[dict[str, Any], Latest]
    selection_decision: Annotated[dict[str, Any], Latest]
    userResponse: Annotated[str, Latest]
    decisions: Annotated[list[dict[str, Any]], Appended]
    """The decisions of all visits of the gate."""
    refusals: Annotated[list[dict[str, Any]], Appended]
    """The finalize calls whose choice was taken back."""
    finalize_interactive_output: Object
    finalize_autonomous_output: Object
    contextRefs: Bindings
    contextSlotBindings: Bindings


def context_selection(
    platform: Platform,
    *,
    node: str,
    slot_id: str,
    package_name: str,
    project_id: str = "",
    sealed: bool = False,
    effects: Effects = "line",
) -> NodeRunnable:
    """A node that selects for one slot inside a hand-written graph, once per run.

    node:         its name; `context_<slotId>` by convention.
    slot_id:      the slot, as the package that runs declares it.
    package_name: that package.
    project_id:   the project, or a template over the parent's state; the run's own project wins.
    sealed, effects: see `cinatra_sdk.blocks.step.Step`.

    Its outputs are under `<node>_output`.  A rejection at its gate rejects the run.
    Raises (when it runs): `PlatformError` with the platform's code, `NodeFailed`.
    """
    return subgraph(
        _compile_graph(platform, InsideInput, None),
        node=node,
        inputs={"parentPackageName": package_name, "slotId": slot_id, "projectId": project_id},
        outputs={
            "contextRefs": "{{ contextRefs }}",
            "contextSlotBindings": "{{ contextSlotBindings }}",
        },
        own_policy=True,
        sealed=sealed,
        effects=effects,
    )


def build_graph(
    platform: Platform | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    effects: Effects = "line",
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    """The graph on `platform`: a simulation by default, unless `CINATRA_BASE_URL` is set.

    effects: "forks" lets forks of a thread make calls too.
    """
    platform = platform if platform is not None else platform_of(os.environ, stubs=SAMPLES)
    return _compile_graph(platform, Input, checkpointer, effects)


def _compile_graph(
    platform: Platform,
    takes: type[Input],
    checkpointer: BaseCheckpointSaver[Any] | None,
    effects: Effects = "line",
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    builder: StateGraph[Any, HostContext, Any, Any] = StateGraph(
        State, context_schema=HostContext, input_schema=takes, output_schema=Output
    )
    nodes = _build_nodes(platform, effects)
    for name in NODES:
        builder.add_node(name, nodes[name])
    builder.add_edge(START, "start")
    builder.add_edge("start", "resolve_context")
    builder.add_edge("resolve_context", "select_mode")
    modes: dict[Hashable, str] = {
        "default": "emit_context_payload",
        "autonomous": "finalize_autonomous",
        "ended": "end",
    }
    builder.add_conditional_edges("select_mode", _by_mode, modes)
    builder.add_edge("emit_context_payload", GATE)
    decided: dict[Hashable, str] = {"go on": "finalize_interactive", "rejected": "end"}
    builder.add_conditional_edges(GATE, _by_decision, decided)
    settled: dict[Hashable, str] = {"done": "end", "taken back": "resolve_context"}
    builder.add_conditional_edges("finalize_interactive", _by_record, settled)
    builder.add_conditional_edges("finalize_autonomous", _by_record, settled)
    builder.add_edge("end", END)
    saver = None if checkpointer is None else with_strict_serializer(checkpointer)
    return builder.compile(checkpointer=saver, name="context_selection")


def _by_mode(state: Mapping[str, Any]) -> str:
    resolved = state.get("resolve_context_output")
    if resolved is None:
        return "ended"
    return "autonomous" if resolved["selectionMode"] == "autonomous" else "default"


def _by_decision(state: Mapping[str, Any]) -> str:
    return "rejected" if state.get("rejected_at") else "go on"


def _by_record(state: Mapping[str, Any]) -> str:
    # A router also sees the raw update of the node, with keys that the state leaves empty.
    resolved = isinstance(state.get("resolve_context_output"), Mapping)
    taken_back = not resolved and bool(state.get("refusals")) and not has_ended(state)
    return "taken back" if taken_back else "done"


def _build_nodes(platform: Platform, effects: Effects) -> dict[str, Any]:
    request = functools.partial(_build_request_node, platform, effects)
    return {
        "start": seal_host_fields(POLICY, inputs=INPUTS),
        "resolve_context": request(
            "resolve_context", RESOLVE_URL, body=_describe_slot, outputs=RESOLVED
        ),
        "select_mode": node_of("select_mode", lambda _state: {}),
        "emit_context_payload": node_of("emit_context_payload", _emit_payload),
        GATE: _build_gate(),
        "finalize_interactive": request(
            "finalize_interactive",
            FINALIZE_URL,
            body=_chosen_by_a_person,
            outputs=FINALIZED,
            needs=("selection_decision",),
            refused=functools.partial(_taken_back, most=MOST_ASKED),
        ),
        "finalize_autonomous": request(
            "finalize_autonomous",
            FINALIZE_URL,
            body=_chosen_without_a_person,
            outputs=FINALIZED,
            refused=functools.partial(_taken_back, most=MOST_ALONE),
        ),
        "end": node_of("end", _build_result),
    }


def _build_request_node(
    platform: Platform,
    effects: Effects,
    node: str,
    url: str,
    *,
    body: Any,
    outputs: Any,
    needs: tuple[str, ...] = (),
    refused: Any = None,
) -> NodeRunnable:
    return PlatformStep(
        step=Step(node=node, needs=needs, sealed=True, effects=effects),
        platform=platform,
        url=url,
        body=body,
        outputs=outputs,
        refused=refused,
    ).node()


def _taken_back(
    state: Mapping[str, Any], call: PlatformCall, error: PlatformError, *, most: int
) -> dict[str, Any] | None:
    """The update that makes the graph resolve the slot again; None where resolving again cannot
    help.
    """
    if error.code not in OUTDATED or len(state.get("refusals") or ()) >= most:
        return None
    return {
        **{key: seal(None) for key in OF_ONE_CHOICE},
        "refusals": seal([refusal_of(error.code, call.body)]),
    }


def _describe_slot(state: Mapping[str, Any], run_id: str) -> dict[str, JsonValue]:
    """The slot and its run: the run that the caller names, else this run."""
    params = state["input_params"]
    return {
        "parentRunId": params["parentRunId"] or run_id,
        "parentPackageName": params["parentPackageName"],
        "slotId": params["slotId"],
        "projectId": params["projectId"],
    }


def _build_finalize_body(
    state: Mapping[str, Any], run_id: str, *, mode: str, response: str
) -> dict[str, JsonValue]:
    resolved = state.get("resolve_context_output") or {}
    if resolved.get("selectionMode") != mode:
        # A jump (`Command(goto=…)`) must not finalize a selection that a person should have made.
        raise NodeFailed(
            f"'finalize_{mode}' was reached for a slot that is not {mode}",
            node=f"finalize_{mode}",
            hint="start the run with an input; nothing may jump into the middle of it",
        )
    body = {**_describe_slot(state, run_id), "selectionMode": mode, "userResponse": response}
    token = resolved["allocationToken"]
    return {**body, "allocationToken": token} if token else body


def _chosen_by_a_person(state: Mapping[str, Any], run_id: str) -> dict[str, JsonValue]:
    return _build_finalize_body(state, run_id, mode="interactive", response=state["userResponse"])


def _chosen_without_a_person(state: Mapping[str, Any], run_id: str) -> dict[str, JsonValue]:
    resolved = state.get("resolve_context_output") or {}
    # Only the three keys of each ref are taken from the answer.
    refs = [{key: ref[key] for key in PINNED} for ref in resolved.get("selectedRefs", [])]
    mode = resolved.get("resolutionMode")
    envelope = {
        "slotId": state["input_params"]["slotId"],
        "resolutionMode": mode,
        # Override means one ref, the narrowest, even when the platform preselects more.
        "selectedRefs": refs[:1] if mode == "override" else refs,
    }
    return _build_finalize_body(state, run_id, mode="autonomous", response=json.dumps(envelope))


def _emit_payload(state: Mapping[str, Any]) -> dict[str, Any]:
    """The data that the gate shows; empty when the run has ended or has shown the data already."""
    resolved = state.get("resolve_context_output")
    if was_sent() or resolved is None or has_ended(state) or "emit_context_payload_output" in state:
        return {}
    shown = {key: resolved[key] for key in ("candidates", "slotMeta", "selectedRefs")}
    refusals = state.get("refusals")
    if refusals:
        shown[REFUSED_KEY] = refusals[-1]
    return {"emit_context_payload_output": seal(shown)}


def _build_gate() -> GateNode:
    def write(state: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
        visit = gate_visit(GATE)
        record = outcome.record(gate_id(state, GATE, visit), GATE, visit, STEP)
        decided = {"selection_decision": seal(record), "decisions": seal([record])}
        if not outcome.approved:
            return {**decided, **ending("rejected", at=outcome.at)}
        return {**decided, "userResponse": seal(outcome.value)}

    asking = build_hitl_gate(
        step_number=STEP,
        node=GATE,
        name="Select context",
        renderer=RENDERER,
        values=lambda state: state["emit_context_payload_output"],
        write=write,
    )
    return gate_once("selection_decision", asking, requires=("emit_context_payload_output",))


def _build_result(state: Mapping[str, Any]) -> dict[str, Any]:
    if was_sent():
        return {}  # a client's `Send` brings a state of its own making
    if state.get("rejected_at"):
        return ending("rejected")
    for node in ("finalize_interactive", "finalize_autonomous"):
        finalized = state.get(f"{node}_output")
        if finalized is not None:
            bindings = seal(finalized["contextSlotBindings"])
            # Two names for the same list: the guide's and the public agents'.
            return {
                "contextRefs": bindings,
                "contextSlotBindings": bindings,
                **ending("completed"),
                **end_of(state),
            }
    raise NodeFailed(
        "'end' was reached before a selection was finalized",
        node="end",
        hint="start the run with an input; nothing may jump into the middle of it",
    )


graph = on_own_threads(build_graph(effects=effects_of(os.environ)))

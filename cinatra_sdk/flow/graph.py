"""A flow as a LangGraph `StateGraph`: one graph node for each of its nodes, under the same id.

In: `FlowPlan` and the host's settings (`Wiring`).  Out: a `StateGraph`, not yet compiled.

State, one channel per node (a merged state would make checkpoints grow quadratically):

    node.<id>   {"seq": step that wrote it, "visits": n, "next": id of the node after it,
                 "out": {output title: value}}
    cursor      whose turn it is;  inputs, outputs, branch, messages, decisions;  the governed keys
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from cinatra_sdk.engine.acting import does_not_act
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.engine.start_input import DECLARED
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.engine import node_runnable
from cinatra_sdk.flow.framing import frame_of
from cinatra_sdk.flow.fusing import SharedSupersteps
from cinatra_sdk.flow.names import (
    BRANCH,
    CURSOR,
    DECISIONS,
    ENDED,
    ENDINGS,
    INPUTS,
    MESSAGES,
    OUTPUTS,
    channel_of,
    in_a_picture,
    node_name,
)
from cinatra_sdk.flow.plan import FlowPlan, NodePlan, Path
from cinatra_sdk.flow.ruled import make_ruled
from cinatra_sdk.flow.site import NodeSite, Wiring
from cinatra_sdk.flow.step import async_step, step
from cinatra_sdk.flow.visiting import NodeVisit, Surroundings
from cinatra_sdk.governed.growing import Conversation, Decisions
from cinatra_sdk.governed.state import FirstText, HostOnly, Record, TerminalWins, Turn
from cinatra_sdk.values.validation.references import load_schemas

_GOVERNED: dict[str, Any] = {
    "bearer_token": Annotated[str, HostOnly],
    "approval_policy": Annotated[Any, HostOnly],
    "run": Annotated[dict[str, Any], HostOnly],
}
_FIXED: dict[str, Any] = {
    **_GOVERNED,
    "rejected_at": Annotated[str, FirstText],
    "status": Annotated[str, TerminalWins],
    CURSOR: Annotated[dict[str, Any], Turn],
    # Keys that a parent reads of a subflow, and a host of a run; only the flow's own end writes
    # them.
    OUTPUTS: Annotated[dict[str, Any], HostOnly],
    BRANCH: Annotated[str, HostOnly],
    ENDED: Annotated[dict[str, Any], HostOnly],
    MESSAGES: Annotated[list[BaseMessage], Conversation],
    DECISIONS: Annotated[list[dict[str, Any]], Decisions],
}
_DRAWN = {ord(c): ord(c) + 0xFEE0 for c in '%{}[]<>"`;#|&\\'}
"""LangGraph's pictures hold names as they are; these letters would be commands there."""
_OUTPUT_KEYS = (OUTPUTS, BRANCH, MESSAGES, DECISIONS, "status", "rejected_at")


def make_graph(
    flow: FlowPlan, wiring: Wiring, *, around: Path = (), depth: int = 0
) -> StateGraph[Any, HostContext, Any, Any]:
    """The graph of `flow`; around, depth: of a flow inside a node."""
    load_schemas()
    record = Annotated[dict[str, Any], Record]
    keys = {
        **_FIXED,
        **_make_inputs_key(depth),
        **{channel_of(node.id): record for node in flow.nodes},
    }
    graph = StateGraph(
        _make_typed_dict("State", keys),
        context_schema=HostContext,
        input_schema=_make_input_schema(flow, depth),
        output_schema=_make_typed_dict("Output", {key: _FIXED[key] for key in _OUTPUT_KEYS}),
    )
    places = make_places(flow, wiring, around, depth)
    shared = _list_shared(places) if wiring.fuse else None
    for site, body in places:
        _add_graph_node(graph, site, body, keys, shared)
    graph.add_edge(START, node_name(flow.start))
    return graph


def _list_shared(places: Sequence[tuple[NodeSite, NodeBody]]) -> SharedSupersteps:
    """The nodes that can run on in another node's superstep."""
    shared = SharedSupersteps()
    for site, body in places:
        if body.computes:
            shared.add_computing(site.frame, body, site.plan.work.compare)
        elif body.in_process:
            visits = NodeVisit(list_surroundings(site, shared), body)
            shared.add_acting(site.frame, body, visits)
    return shared


def make_places(
    flow: FlowPlan, wiring: Wiring, around: Path, depth: int, *, inline: bool = False
) -> list[tuple[NodeSite, NodeBody]]:
    """Every node of the flow with its place."""
    places = []
    for node in flow.nodes:
        frame = frame_of(flow, node, around, wiring)
        site = NodeSite(
            plan=node, flow=flow, frame=frame, wiring=wiring, depth=depth, inline=inline
        )
        body = node.work.make_body(site)
        if wiring.rules is not None and node.work.acts and not body.contains:
            body = make_ruled(site, body, wiring.rules)
        chooses = body.chooses or node.branches not in (("next",), ())
        places.append((site, replace(body, chooses=chooses)))
    return places


def _make_inputs_key(depth: int) -> dict[str, Any]:
    """A caller's inputs are read once and checked; a subflow's come from its parent, sealed."""
    inputs = dict[str, Any]
    return {INPUTS: inputs if depth == 0 else Annotated[inputs, HostOnly]}


def _make_input_schema(flow: FlowPlan, depth: int) -> Any:
    schema = _make_typed_dict("Input", _input_keys(depth))
    if depth == 0:
        setattr(schema, DECLARED, tuple(port.title for port in flow.inputs))
    return schema


def _input_keys(depth: int) -> dict[str, Any]:
    """A caller sets `inputs` only; a subgraph also takes what its parent sealed for it."""
    return _make_inputs_key(depth) if depth == 0 else {**_make_inputs_key(depth), **_GOVERNED}


def _add_graph_node(
    graph: StateGraph[Any, Any, Any, Any],
    site: NodeSite,
    body: NodeBody,
    keys: Any,
    shared: SharedSupersteps | None,
) -> None:
    node = site.plan
    name = node_name(node.id)
    endings = ENDINGS if body.acts else ()
    reads = dict.fromkeys((CURSOR, *site.frame.channels(), *endings, *body.reads))
    if shared is not None:
        reads |= dict.fromkeys(shared.list_reads(site.frame.routes.values()))
    graph.add_node(
        name,
        _make_runnable(site, body, shared),
        input_schema=_make_typed_dict(
            f"Reads_{len(graph.nodes)}", {key: keys[key] for key in reads}
        ),
        metadata=_describe_node(site),
        destinations=_list_destinations(site) if body.chooses else None,
    )
    if shared is not None:
        return  # every node leaves by a Command; pictures are drawn without this
    if not node.branches:
        graph.add_edge(name, END)
    elif not body.chooses:
        graph.add_edge(name, node_name(site.frame.routes["next"]))


def _make_runnable(
    site: NodeSite, body: NodeBody, shared: SharedSupersteps | None
) -> Runnable[Any, Any]:
    about = list_surroundings(site, shared)
    made = node_runnable(node_name(site.plan.id), step(about, body), async_step(about, body))
    return made if body.acts else does_not_act(made)


def list_surroundings(site: NodeSite, shared: SharedSupersteps | None) -> Surroundings:
    return Surroundings(
        frame=site.frame,
        placeholders=tuple(site.wiring.env.values()),
        compare=site.plan.work.compare,
        shared=shared,
    )


def _describe_node(site: NodeSite) -> dict[str, Any]:
    """The metadata of a node for Studio: its OAS name and the author's id."""
    node: NodePlan = site.plan
    return {
        "oas_name": (node.shown or node.name).translate(_DRAWN),
        "oas_id": in_a_picture(node.id),
        "oas_type": node.work.kind,
    }


def _list_destinations(site: NodeSite) -> dict[str, str] | tuple[str, ...]:
    """Where a node that chooses can go, with the branch's name: Studio draws these."""
    if set(site.frame.routes) <= {"next"}:
        return tuple(node_name(target) for target in site.frame.routes.values())
    targets: dict[str, str] = {}
    for branch, target in site.frame.routes.items():
        shown = "" if branch == "next" else in_a_picture(branch)
        name = node_name(target)
        targets[name] = f"{targets[name]}, {shown}" if targets.get(name) else shown
    return targets


def _make_typed_dict(name: str, keys: dict[str, Any]) -> Any:
    return TypedDict(name, keys, total=False)  # type: ignore[operator]  # keys are known at run time only

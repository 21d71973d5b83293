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

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.schema.checker import load_schemas
from cinatra_sdk.flow.plan.casts import caster
from cinatra_sdk.flow.plan.channel_names import (
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
from cinatra_sdk.flow.plan.frame import Frame, InputPlan, InputSource, NodeBody, pin_of
from cinatra_sdk.flow.plan.plan import FlowPlan, NodePlan, NodeSite, Path, Wiring
from cinatra_sdk.flow.visit.fusion import SharedSupersteps
from cinatra_sdk.flow.visit.governance_gate import make_ruled
from cinatra_sdk.flow.visit.visit import NodeVisit, Surroundings, async_step, step
from cinatra_sdk.langgraph_internals.nodes import node_runnable
from cinatra_sdk.langgraph_threads.graph_input import DECLARED
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.lineage import does_not_act
from cinatra_sdk.langgraph_threads.list_channels import Conversation, Decisions
from cinatra_sdk.langgraph_threads.state_channels import (
    FirstText,
    HostOnly,
    Record,
    TerminalWins,
    Turn,
)

# ----------------------------------------------------------------------------
# The frame of a node, from its flow's data edges and routes.


def frame_of(flow: FlowPlan, node: NodePlan, around: Path, wiring: Wiring) -> Frame:
    """The frame of `node`; `around`: the nodes that run its flow, from the outermost on."""
    where = "/".join((*around, node.id))
    return Frame(
        id=node.id,
        path=(*around, node.id),
        channel=channel_of(node.id),
        inputs=tuple(_plan_input(flow, node, port) for port in node.inputs),
        before=_list_turn_channels(flow, node, wiring),
        routes=flow.routes_of(node.id),
        branches=node.branches,
        outputs=node.outputs,
        kind=node.work.kind,
        risk=node.risk,
        once=node.once,
        max_steps=wiring.max_steps,
        pin=pin_of(wiring.digest, around),
        where=where,
        output_where=f"output of node '{where}'",
        effects=wiring.effects,
    )


def _list_turn_channels(flow: FlowPlan, node: NodePlan, wiring: Wiring) -> tuple[str, ...]:
    """A StartNode also passes the turn to itself, to ask for the next missing input, and so does a
    node that asks before it acts, as any acting node of a governed flow may; a finalize whose choice can be recorded no more passes it back to
    the node that resolved its slot.
    """
    ruled = wiring.rules is not None and node.work.acts
    own = (node.id,) if node.work.asks_person or node.work.repeats or ruled else node.after
    return tuple(channel_of(source) for source in (*own, *flow.sources_of(node.id)))


def _plan_input(flow: FlowPlan, node: NodePlan, port: TypedPort) -> InputPlan:
    sources = []
    for feed in flow.feeds_of(node.id, port.title):
        output = next(p for p in flow.by_id[feed.source].outputs if p.title == feed.output)
        sources.append(
            InputSource(
                channel=channel_of(feed.source),
                output=feed.output,
                cast=caster(output.type, port.type),
                edge=f"{feed.source}.{feed.output}",
            )
        )
    return InputPlan(title=port.title, sources=tuple(sources), default=port.default)


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

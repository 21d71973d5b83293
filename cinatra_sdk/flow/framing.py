"""The frame of a node, from its flow's data edges and routes."""

from __future__ import annotations

from cinatra_sdk.flow.casting import caster
from cinatra_sdk.flow.frame import Frame, InputPlan, InputSource, pin_of
from cinatra_sdk.flow.names import channel_of
from cinatra_sdk.flow.plan import FlowPlan, NodePlan, Path
from cinatra_sdk.flow.site import Wiring
from cinatra_sdk.values.ports import TypedPort


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

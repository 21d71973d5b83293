"""The frame of a node, from its flow's data edges and routes."""

from __future__ import annotations

from cinatra_sdk.engine.lineage import Effects
from cinatra_sdk.flow.casting import caster
from cinatra_sdk.flow.frame import Frame, InputPlan, InputSource, pin_of
from cinatra_sdk.flow.names import channel_of
from oas_compiler.ir import (
    AT_MOST_ONCE,
    AgentShortenNode,
    FlowIR,
    Node,
    Path,
    PluginRetryNode,
    Port,
    StartNode,
)
from oas_compiler.lower.reopening import returning_to


def frame_of(
    flow: FlowIR, node: Node, around: Path, *, max_steps: int, digest: str, effects: Effects
) -> Frame:
    """The frame of `node`; `around`: the nodes that run its flow, from the outermost on."""
    where = "/".join((*around, node.id))
    return Frame(
        id=node.id,
        path=(*around, node.id),
        channel=channel_of(node.id),
        inputs=tuple(_plan_input(flow, node, port) for port in node.inputs),
        before=_list_turn_channels(flow, node),
        routes=flow.routes_of(node.id),
        branches=node.branches,
        outputs=node.outputs,
        kind=type(node).__name__,
        risk=node.risk_class or node.behind.risk_class,
        once=node.effect == AT_MOST_ONCE,
        max_steps=max_steps,
        pin=pin_of(digest, around),
        where=where,
        output_where=f"output of node '{where}'",
        effects=effects,
    )


def _list_turn_channels(flow: FlowIR, node: Node) -> tuple[str, ...]:
    """A StartNode also passes the turn to itself, to ask for the next missing input, and so does a
    node that asks before it acts, one that makes summaries, and one that runs its flow again; a finalize whose choice can be recorded no more passes it back to
    the node that resolved its slot.
    """
    passing = (StartNode, AgentShortenNode, PluginRetryNode)
    passes_to_itself = isinstance(node, passing) or node.behind.asks_person
    own = (node.id,) if passes_to_itself else returning_to(flow, node)
    return tuple(channel_of(source) for source in (*own, *flow.sources_of(node.id)))


def _plan_input(flow: FlowIR, node: Node, port: Port) -> InputPlan:
    sources = []
    for edge in flow.feeds.get((node.id, port.title), ()):
        output = next(p for p in flow.by_id[edge.source].outputs if p.title == edge.output)
        sources.append(
            InputSource(
                channel=channel_of(edge.source),
                output=edge.output,
                cast=caster(output.type, port.type),
                edge=f"{edge.source}.{edge.output}",
            )
        )
    return InputPlan(title=port.title, sources=tuple(sources), default=port.default)

"""The flows inside a node, lowered: as graphs where a person is asked inside, else as functions."""

from __future__ import annotations

from dataclasses import replace

from cinatra_sdk.flow.inline import InlineFlow
from cinatra_sdk.flow.inner import FlowInside
from oas_compiler.ir import ClientToolNode, FlowIR, InputMessageNode, Path, walk
from oas_compiler.kinds.registry import kind_of
from oas_compiler.lower.graph import list_surroundings, lower_flow, lower_places
from oas_compiler.lower.registry import LoweringSite


def lower_inner(
    site: LoweringSite, flow: FlowIR, around: Path, *, as_graph: bool, alone: bool = False
) -> FlowInside:
    """One flow of the node at `site`.

    around:   its path, as the walk over the outermost flow has it.
    alone:    with a conversation of its own.
    as_graph: a graph also without a gate inside, for pictures and for going on in its middle.
    """
    inside = [inner for _path, inner in walk(flow)]
    asks = any(
        isinstance(inner, (InputMessageNode, ClientToolNode)) or inner.behind.asks_person
        for inner in inside
    )
    acts = any(kind_of(inner).acts for inner in inside)
    wiring, depth = site.wiring, site.depth + 1
    graph = inline = None
    if asks or (as_graph and not site.inline):
        graph = lower_flow(flow, wiring, around=around, depth=depth).compile(name=flow.id)
    else:
        # The line of the thread is looked at once, by the node around.
        own = replace(wiring, effects="forks")
        inline = InlineFlow(flow.start)
        for place, body in lower_places(flow, own, around, depth, inline=True):
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
    )

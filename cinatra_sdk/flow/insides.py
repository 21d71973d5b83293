"""Makes the flows inside a node: graphs where a person is asked inside, else plain functions."""

from __future__ import annotations

from dataclasses import replace

from cinatra_sdk.flow.graph import list_surroundings, make_graph, make_places
from cinatra_sdk.flow.inline import InlineFlow
from cinatra_sdk.flow.inner import FlowInside
from cinatra_sdk.flow.plan import FlowPlan, Path, walk_plan
from cinatra_sdk.flow.site import NodeSite


def make_inside(
    site: NodeSite, flow: FlowPlan, around: Path, *, as_graph: bool, alone: bool = False
) -> FlowInside:
    """One flow of the node at `site`.

    around:   its path, as the walk over the outermost flow has it.
    alone:    with a conversation of its own.
    as_graph: a graph also without a gate inside, for pictures and for going on in its middle.
    """
    inside = [inner.work for inner in walk_plan(flow)]
    asks = any(work.asks or work.asks_person for work in inside)
    acts = any(work.acts for work in inside)
    wiring, depth = site.wiring, site.depth + 1
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
    )

"""Makes the flows inside a node: graphs where a person is asked inside, else plain functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cinatra_sdk.flow.casting import caster
from cinatra_sdk.flow.graph import list_surroundings, make_graph, make_places
from cinatra_sdk.flow.inline import InlineFlow
from cinatra_sdk.flow.inner import FlowInside
from cinatra_sdk.flow.plan import FlowPlan, Path, walk_plan
from cinatra_sdk.flow.site import NodeSite


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

"""MapNode and ParallelMapNode, also as WayFlow extends them."""

from __future__ import annotations

from cinatra_sdk.flow.nodes.each import (
    ITERATED,
    Map,
    ParallelMap,
    UnpackedMap,
    UnpackedParallelMap,
)
from oas_compiler import ir
from oas_compiler.ir import ANY, ArrayType, FlowIR, MapNode, ParallelMapNode, Port
from oas_compiler.lower.registry import PlanSite


def lower_map(site: PlanSite) -> Map:
    node = site.node
    assert isinstance(node, MapNode)
    inner = {port.title: port for port in node.subflow.inputs}
    iterates: dict[str, bool] = {}
    for port in node.inputs:
        verdict = _decide_by_source(site.flow, node, port, inner[port.title.removeprefix(ITERATED)])
        if verdict is not None:
            iterates[port.title] = verdict
    return (ParallelMap if isinstance(node, ParallelMapNode) else Map)(
        flow=site.inside[0],
        iterates=iterates,
        reducers=dict(node.reducers),
        takes_failures=bool(node.on_item_error),
    )


def lower_extended_map(site: PlanSite) -> UnpackedMap:
    node = site.node
    assert isinstance(node, ir.ExtendedMapNode)
    always = isinstance(node, ir.ExtendedParallelMapNode)
    return (UnpackedParallelMap if always else UnpackedMap)(
        flow=site.inside[0],
        unpack=dict(node.unpack),
        parallel=node.is_parallel,
        most_at_once=node.max_workers,
    )


def _decide_by_source(flow: FlowIR, node: MapNode, port: Port, inner: Port) -> bool | None:
    """Agent Spec: the type of what feeds the input decides whether it is gone through.

    None where the file does not say it: no edge, several that differ, or a source of any type.
    """
    verdicts: set[bool | None] = set()
    for edge in flow.feeds.get((node.id, port.title), ()):
        source = next(one for one in flow.by_id[edge.source].outputs if one.title == edge.output)
        if ANY in (source.type, inner.type):
            verdicts.add(None)
        else:
            verdicts.add(isinstance(source.type, ArrayType) and source.type != inner.type)
    return verdicts.pop() if len(verdicts) == 1 else None

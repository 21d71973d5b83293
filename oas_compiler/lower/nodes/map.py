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
from oas_compiler.ir import (
    ANY,
    ArrayType,
    FlowIR,
    MapNode,
    ParallelMapNode,
    Port,
    Type,
    UnionType,
)
from oas_compiler.lower.registry import PlanSite
from oas_compiler.types.casting import castable


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

    None where the file does not say it: no edge, several that differ, a source of any type, or of
    several types.
    """
    verdicts: set[bool | None] = set()
    for edge in flow.feeds.get((node.id, port.title), ()):
        source = next(one for one in flow.by_id[edge.source].outputs if one.title == edge.output)
        verdicts.add(_is_gone_through(source.type, inner.type))
    return verdicts.pop() if len(verdicts) == 1 else None


def _is_gone_through(source: Type, inner: Type) -> bool | None:
    """Whether `source` is a list of what the inner flow takes; None where its value decides."""
    if ANY in (source, inner):
        return None
    if isinstance(source, UnionType):
        verdicts = {_is_gone_through(option, inner) for option in source.options}
        return verdicts.pop() if len(verdicts) == 1 else None
    return isinstance(source, ArrayType) and source != inner and castable(source.items, inner)

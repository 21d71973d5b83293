"""ExtendedMapNode and ExtendedParallelMapNode."""

from __future__ import annotations

from collections.abc import Iterator

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.each import Collected, MappedInput, make_each
from cinatra_sdk.values.json_paths import JsonPath, parse_path
from oas_compiler.ir import ANY, ExtendedMapNode
from oas_compiler.kinds.extended_map import ITERATED
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.registry import LoweringSite


def lower_extended_map(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, ExtendedMapNode)
    return make_each(
        frame,
        lower_inner(site, node.subflow, frame.path, as_graph=False),
        inputs=list(_list_inputs(node)),
        outputs=[
            Collected(title=port.title, inner=port.title, reducer="append") for port in node.outputs
        ],
        at_once=_count_at_once(site, node),
    )


def _list_inputs(node: ExtendedMapNode) -> Iterator[MappedInput]:
    types = {port.title: port.type for port in node.subflow.inputs}
    # Also where nothing of an element is taken, there is a round for each.
    yield MappedInput(title=ITERATED, inner="", type=ANY, iterates=True, path=JsonPath())
    for title, way in node.unpack:
        path = parse_path(way)
        assert path is not None  # its builder saw to that
        yield MappedInput(title=ITERATED, inner=title, type=types[title], iterates=True, path=path)
    for port in node.inputs:
        if port.title != ITERATED:
            yield MappedInput(
                title=port.title, inner=port.title, type=types[port.title], iterates=False
            )


def _count_at_once(site: LoweringSite, node: ExtendedMapNode) -> int | None:
    if not node.is_parallel:
        return 1
    bounds = [one for one in (node.max_workers, site.wiring.max_parallel) if one is not None]
    return min(bounds, default=None)

"""MapNode and ParallelMapNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.each import Collected, MappedInput, make_each
from oas_compiler.ir import ANY, ArrayType, FlowIR, MapNode, ParallelMapNode, Port
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.registry import LoweringSite

_ITERATED = "iterated_"
_COLLECTED = "collected_"


def lower_map(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, MapNode)
    types = {port.title: port for port in node.subflow.inputs}
    inputs = []
    for port in node.inputs:
        inner = types[port.title.removeprefix(_ITERATED)]
        iterates = _decide_by_source(site.flow, node, port, inner)
        inputs.append(
            MappedInput(title=port.title, inner=inner.title, type=inner.type, iterates=iterates)
        )
    outputs = [
        Collected(title=_COLLECTED + title, inner=title, reducer=reducer)
        for title, reducer in node.reducers
    ]
    return make_each(
        frame,
        lower_inner(site, node.subflow, frame.path, as_graph=False),
        inputs=inputs,
        outputs=outputs,
        takes_failures=bool(node.on_item_error),
        errors=_find_errors_output(node),
        at_once=site.wiring.max_parallel if isinstance(node, ParallelMapNode) else 1,
    )


def _find_errors_output(node: MapNode) -> str:
    """The output for what failed; empty where there is none, or the subflow has one of the name."""
    own = {_COLLECTED + title for title, _reducer in node.reducers}
    return next((port.title for port in node.outputs if port.title not in own), "")


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

"""ParallelFlowNode: several flows at the same time.

two flows with the outputs "a" and "b"   ->  outputs "a", "b"; the same name twice is OAS076
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, specialised
from oas_compiler.ir import FlowIR, Port
from oas_compiler.ir.printout import brief
from oas_compiler.kinds.kind import DRAFT, MAPPINGS, Extended, NodeKind, build_unknown, is_any


def build_parallel(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unknown(site)
    return ir.ParallelFlowNode(
        **common(site),
        inputs=specialised(site, "inputs", _shared_inputs(site), "subflows"),
        outputs=specialised(site, "outputs", _separate_outputs(site), "subflows"),
        branches=next_only(site),
        subflows=site.subflows,
    )


def _shared_inputs(site: Site) -> tuple[Port, ...]:
    """An input of several flows is one input, so it has one type."""
    found: dict[str, tuple[FlowIR, Port]] = {}
    for flow in site.subflows:
        for port in flow.inputs:
            other, first = found.setdefault(port.title, (flow, port))
            if first.type != port.type:
                site.error(
                    "OAS076",
                    f'the input "{port.title}" of {site.label} is {brief(port.type)} in '
                    f'"{flow.id}" and {brief(first.type)} in "{other.id}"',
                    "subflows",
                    hint="give it one type, or two names",
                )
    return tuple(port for _, port in found.values())


def _separate_outputs(site: Site) -> tuple[Port, ...]:
    """Flows that run at once cannot give one output both."""
    found: dict[str, tuple[FlowIR, Port]] = {}
    for flow in site.subflows:
        for port in flow.outputs:
            if port.title in found:
                site.error(
                    "OAS076",
                    f'"{found[port.title][0].id}" and "{flow.id}" of {site.label} both have the '
                    f'output "{port.title}"',
                    "subflows",
                    hint="name the outputs differently: the flows run at the same time",
                )
            found.setdefault(port.title, (flow, port))
    return tuple(port for _, port in found.values())


PARALLEL_FLOW = NodeKind(
    component_type="ParallelFlowNode",
    node=ir.ParallelFlowNode,
    build=build_parallel,
    words="Runs several flows at the same time.",
    fields={**NODE_FIELDS, "subflows": Field("list", "The flows that are run.", required=True)},
    since=DRAFT,
    extended=Extended(
        "ExtendedParallelFlowNode", {**MAPPINGS, "max_workers": is_any}, {"flows": "subflows"}
    ),
    flows=("subflows",),
    passage="all",
    acts=False,
    lowering="oas_compiler.lower.plain_nodes:lower_parallel_flow",
)

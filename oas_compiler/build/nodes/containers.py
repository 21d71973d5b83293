"""ParallelFlowNode and CatchExceptionNode: not run yet, but their ports and branches are known.

two flows with the outputs "a" and "b" in parallel   ->  outputs "a", "b"; the same name twice is OAS076
a caught flow with the branch "next"   ->  "next" and "caught_exception_branch",
                                           and the output "caught_exception_info"
"""

from __future__ import annotations

from typing import Final

from oas_compiler import ir
from oas_compiler.build.nodes.calls import build_unknown
from oas_compiler.build.nodes.inference import branches_of, checked_branches, next_only, specialised
from oas_compiler.build.nodes.site import Site, common
from oas_compiler.ir import FlowIR, Json, Port, ScalarType, UnionType
from oas_compiler.ir.type_names import brief

CAUGHT_BRANCH: Final = "caught_exception_branch"
CAUGHT_INFO: Final = "caught_exception_info"


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


def build_catch(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unknown(site)
    subflow = site.subflows[0]
    info = Port(
        title=CAUGHT_INFO,
        type=UnionType((ir.STRING, ScalarType("null"))),
        schema=Json.of({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        default=Json("null"),
        place=site.place(),
    )
    outputs = specialised(site, "outputs", (*subflow.outputs, info), "subflow")
    for port in outputs:
        if port.default is None:
            site.findings.error(
                "OAS077",
                f'the output "{port.title}" of {site.label} has no default for a run that fails',
                port.place,
                hint="give the output a default, in the subflow or at the node",
            )
    return ir.CatchExceptionNode(
        **common(site),
        inputs=specialised(site, "inputs", subflow.inputs, "subflow"),
        outputs=outputs,
        branches=checked_branches(site, (*branches_of(subflow), CAUGHT_BRANCH)),
        subflow=subflow,
    )

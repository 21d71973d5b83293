"""CatchExceptionNode: a flow that may fail.

a caught flow with the branch "next"   ->  "next" and "caught_exception_branch",
                                           and the output "caught_exception_info"
"""

from __future__ import annotations

from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, SUBFLOW, Site, common
from oas_compiler.component_facts.inference import branches_of, checked_branches, specialised
from oas_compiler.component_facts.metadata import NODE_KEYS, cinatra_error
from oas_compiler.ir import Json, Port, ScalarType, UnionType
from oas_compiler.kinds.kind import NodeKind, build_unknown

CAUGHT_BRANCH: Final = "caught_exception_branch"
CAUGHT_INFO: Final = "caught_exception_info"
_INFO: Final = ("kind", "message")
"""What the output says of an error: its node and kind, or its text, too."""


def list_caught(node: ir.Node) -> frozenset[str]:
    """The branches by which a node over a flow is left where the flow fails."""
    ends = {name for flow in node.subflows for name in branches_of(flow)}
    return frozenset({CAUGHT_BRANCH, *(name for name in node.branches if name not in ends)})


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
        tells_message=_tells_message(site),
    )


def _tells_message(site: Site) -> bool:
    said = site.component.cinatra.get("exceptionInfo")
    if said not in (None, *_INFO):
        cinatra_error(site, "exceptionInfo", " or ".join(f'"{word}"' for word in _INFO))
    return said == "message"


CATCH_EXCEPTION = NodeKind(
    component_type="CatchExceptionNode",
    node=ir.CatchExceptionNode,
    build=build_catch,
    words="Runs a flow and goes another way when it fails.",
    fields={**NODE_FIELDS, "subflow": SUBFLOW},
    since=(26, 1, 2),
    flows=("subflow",),
    passage="caught",
    acts=False,
    metadata={**NODE_KEYS, "exceptionInfo": {"enum": [*_INFO]}},
    lowering="oas_compiler.lower.plain_nodes:lower_catch_exception",
)

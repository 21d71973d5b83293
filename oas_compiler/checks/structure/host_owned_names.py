"""No input of a flow has the name of a governed key.

a StartNode input "bearer_token", or a data edge into "approval_policy"   ->   OAS091
"""

from __future__ import annotations

from cinatra_sdk.contract import GOVERNED_KEYS
from oas_compiler.checks.lookup.edges import input_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import StartNode


@rule(
    code="OAS091",
    name="host-owned-names",
    severity="error",
    summary="bearer_token, approval_policy or rejected_at is an input or the target of a data "
    "edge; only the host sets them.",
    fix="Remove it; the runtime supplies it where it is needed.",
    source="agent guide, R-01",
    needs="flow",
    aliases=("R-01",),
    bad='StartNode: "inputs": [{"title": "topic"}, {"title": "bearer_token"}]',
    good='StartNode: "inputs": [{"title": "topic"}]',
)
def host_owned_names(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        named = [
            (port.title, port.place)
            for node in flow.nodes
            if isinstance(node, StartNode)
            for port in node.inputs
            if port.title in GOVERNED_KEYS
        ]
        named += [
            (edge.input, input_of(subject, flow, edge))
            for edge in flow.data_edges
            if edge.input in GOVERNED_KEYS
        ]
        for title, place in named:
            report(
                f'"{title}" is set by the host alone and cannot be an input',
                place,
                hint="remove it; the runtime supplies it where it is needed",
            )

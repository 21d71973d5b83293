"""A data edge ends at an input that its node has.

"destination_input": "topc" where the input is "topic"   ->   OAS062 did you mean "topic"?
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Gaps, Titles, Turned, instead, part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS062",
    name="known-inputs",
    severity="error",
    summary="A data edge ends at an input that its node does not have.",
    fix="Correct destination_input, or declare the input at the node.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='"inputs": [{"title": "topic"}]   with   "destination_input": "topc"',
    good='"inputs": [{"title": "topic"}]   with   "destination_input": "topic"',
)
def known_inputs(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        titles, gaps, turned = Titles(flow), Gaps(flow), Turned(flow)
        for edge in flow.data_edges:
            node = flow.by_id.get(edge.target)
            if node is None or gaps.hides_ports(node) or edge.input in titles.inputs(node):
                continue
            source = flow.by_id.get(edge.source)
            if (
                source is not None
                and edge.output not in titles.outputs(source)
                and edge in turned.links
            ):
                continue  # OAS061 says so
            report(
                f'"{node.id}" has no input "{edge.input}"',
                part_of(subject, edge.place, "destination_input"),
                hint=instead(report, edge.input, titles.inputs(node), kind="input"),
            )

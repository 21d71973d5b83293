"""Every output of a flow comes from an EndNode, or has a default.

"outputs": [{"title": "drafd"}] where the EndNode has "draft"   ->   OAS066 did you mean "draft"?
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Gaps, unlisted
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode


@rule(
    code="OAS066",
    name="outputs-are-produced",
    severity="error",
    summary="The flow declares an output that no EndNode has and that has no default.",
    fix="Add the output to an EndNode, or give it a default.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='flow: "outputs": [{"title": "summary"}]   EndNode: "outputs": [{"title": "draft"}]',
    good='flow: "outputs": [{"title": "draft"}]   EndNode: "outputs": [{"title": "draft"}]',
)
def outputs_are_produced(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        ends = [node for node in flow.nodes if isinstance(node, EndNode)]
        gaps = Gaps(flow)
        if not ends or flow.lacks_nodes or unlisted(flow) or any(map(gaps.hides_ports, ends)):
            continue  # the EndNode that has it may be the one that cannot be read
        titles = {port.title for end in ends for port in end.outputs}
        # an edge to such an input of an EndNode is OAS062: the one that it means is not missing
        ids = {end.id for end in ends}
        given = titles | {edge.input for edge in flow.data_edges if edge.target in ids}
        for port in flow.outputs:
            if port.title not in given and port.default is None:
                report(
                    f'no EndNode of the flow "{flow.id}" has the output "{port.title}"',
                    port.place,
                    hint=report.nearest(port.title, titles)
                    or f'add "{port.title}" to the outputs of an EndNode, or give it a default',
                )

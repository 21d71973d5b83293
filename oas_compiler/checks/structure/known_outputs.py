"""A data edge starts at an output that its node has.

"source_output": "drafd" where the output is "draft"   ->   OAS061 did you mean "draft"?
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Gaps, Titles, Turned, instead, part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import Unread
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR


@rule(
    code="OAS061",
    name="known-outputs",
    severity="error",
    summary="A data edge starts at an output that its node does not have.",
    fix="Correct source_output, or declare the output at the node.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='"outputs": [{"title": "draft"}]   with   "source_output": "drafd"',
    good='"outputs": [{"title": "draft"}]   with   "source_output": "draft"',
)
def known_outputs(subject: Subject, report: Report) -> None:
    apart = subject.unread(Unread.START_INPUTS)
    for flow in subject.flows:
        titles, gaps, turned = Titles(flow), Gaps(flow), Turned(flow)
        for edge in flow.data_edges:
            node = flow.by_id.get(edge.source)
            if node is None or gaps.hides_ports(node) or edge.output in titles.outputs(node):
                continue
            if node.place.pointer in apart and edge.output in _inputs_of(flow, subject):
                continue  # the StartNode lacks it, which was reported
            report(
                f'"{node.id}" has no output "{edge.output}"',
                part_of(subject, edge.place, "source_output"),
                hint=f'turn it round: source_node "{edge.target[:80]}", '
                f'destination_node "{edge.source[:80]}"'
                if edge in turned.links
                else instead(report, edge.output, titles.outputs(node), kind="output"),
            )


def _inputs_of(flow: FlowIR, subject: Subject) -> tuple[str, ...]:
    """The inputs that the flow itself declares."""
    written = subject.written_at(flow.place.pointer)
    return written.titles("inputs") if written is not None else ()

"""Every output of an EndNode has a source, even if it has a default.

    outputs [draft, default ""], no data edge, no input "draft" of the flow   ->   OAS121

Without a default this is OAS063 already.  The host takes an output from a data edge, or from the
input of the same name that both the flow and its StartNode list.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Gaps
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, FlowIR, StartNode


@rule(
    code="OAS121",
    name="end-output-source",
    severity="error",
    summary="An output of an EndNode has a default, but neither a data edge nor an input of the same name.",
    fix="Lead a data edge to it, or remove the output.",
    source="Cinatra V28",
    needs="cinatra",
    aliases=("V28", "OAS-RUNTIME-005"),
    bad='"end": {"component_type": "EndNode", "outputs": [{"title": "draft", "type": "string", "default": ""}]}\n// and no data edge to end.draft',
    good='{"source_node": {"$component_ref": "write"}, "source_output": "draft",\n "destination_node": {"$component_ref": "end"}, "destination_input": "draft"}',
)
def end_output_source(subject: Subject, report: Report) -> None:
    listed = {
        flow.pointer: set(flow.titles("inputs"))
        for flow in subject.of_type("Flow")
        if flow.value.get("inputs") is not None
    }
    for flow in subject.flows:
        start = flow.by_id.get(flow.start)
        given = {port.title for port in start.outputs} if isinstance(start, StartNode) else set()
        given &= listed.get(flow.place.pointer, given)
        _check_end_outputs(flow, given, report)


def _check_end_outputs(flow: FlowIR, given: set[str], report: Report) -> None:
    # the edges that building a flow adds stand at the EndNode; the host knows those by `given`
    places = {node.place.pointer for node in flow.nodes}
    fed = {
        (edge.target, edge.input) for edge in flow.data_edges if edge.place.pointer not in places
    }
    fallback = {port.title for port in flow.outputs if port.default is not None}
    gaps = Gaps(flow)
    for node in flow.nodes:
        if not isinstance(node, EndNode):
            continue
        for port in node.outputs:
            has_default = port.default is not None or port.title in fallback
            if not has_default or port.title in given or (node.id, port.title) in fed:
                continue
            if not gaps.may_feed(node.id, port.title):
                report(
                    f'the output "{port.title[:80]}" of "{node.id}" has neither a data edge '
                    "nor an input of the same name",
                    port.place,
                    hint="its default is not enough for the host: lead a data edge to it",
                )

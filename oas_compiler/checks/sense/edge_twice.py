"""No data edge repeats or crosses another data edge.

write.text → send.body, twice                           ->   OAS249
write.subject → send.body and write.body → send.subject ->   OAS249: crossed
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import DataEdge, FlowIR


@rule(
    code="OAS249",
    name="edge-twice",
    severity="warning",
    summary="A data edge stands twice, or two edges lead two outputs into each other's inputs.",
    fix="Remove the second edge, or lead each output to the input of its name.",
    source="Agent Spec, data flow",
    needs="flow",
    bad="write.subject → send.body,  write.body → send.subject",
    good="write.subject → send.subject,  write.body → send.body",
)
def edge_twice(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        seen: dict[tuple[str, str, str, str], DataEdge] = {}
        for edge in flow.data_edges:
            if edge.place == flow.place or "/data_flow_connections/" not in edge.place.pointer:
                continue  # an edge that is implied
            key = (edge.source, edge.output, edge.target, edge.input)
            if key in seen:
                report(
                    f"the data edge {edge.source[:60]}.{edge.output[:60]} → "
                    f"{edge.target[:60]}.{edge.input[:60]} stands twice",
                    edge.place,
                    hint="remove the second one",
                )
            seen.setdefault(key, edge)
        for edge in seen.values():
            crossed = (edge.source, edge.input, edge.target, edge.output)
            # told at the first of the two
            if edge.output < edge.input and crossed in seen and not _is_fed_straight(flow, edge):
                report(
                    f'"{edge.output[:80]}" of "{edge.source[:80]}" goes into "{edge.input[:80]}" of '
                    f'"{edge.target[:80]}", and the other way round: they are crossed',
                    edge.place,
                    hint=f'lead "{edge.output[:80]}" to "{edge.output[:80]}" and '
                    f'"{edge.input[:80]}" to "{edge.input[:80]}"',
                )


def _is_fed_straight(flow: FlowIR, edge: DataEdge) -> bool:
    """Whether the source also leads the output to the input of its own name."""
    return any(
        other.source == edge.source and other.output == other.input == edge.output
        for other in flow.data_edges_into(edge.target)
    )

"""Flows and edges have names: the host refuses a file with a nameless flow or edge.

{"component_type": "ControlFlowEdge", "from_node": …, "to_node": …}   ->   OAS101
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS101",
    name="name-missing",
    severity="error",
    summary=(
        "A flow or an edge has no name; the other parts of S3, S7 and S8 are OAS014, OAS022 and OAS023."
    ),
    fix='Add "name": any text that tells a reader what it is.',
    source="Cinatra S3, S7, S8",
    needs="cinatra",
    aliases=("S3", "S7", "S8"),
    bad='{"component_type": "ControlFlowEdge", "from_node": …, "to_node": …}',
    good='{"component_type": "ControlFlowEdge", "name": "start_to_end", "from_node": …, "to_node": …}',
)
def names_present(subject: Subject, report: Report) -> None:
    for found in subject.of_type("Flow", "ControlFlowEdge", "DataFlowEdge"):
        # a name of the wrong kind is OAS022
        if found.value.get("name") is None:
            report(
                f"{found.label} has no name",
                subject.place(found.pointer),
                hint="every flow and every edge of a Cinatra file needs one",
            )

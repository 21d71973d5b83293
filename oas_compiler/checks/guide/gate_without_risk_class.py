"""A gate says what it guards: its step in the approval policy carries a risk class.

InputMessageNode without metadata.cinatra.riskClass   ->   OAS176
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS176",
    name="gate-without-risk-class",
    severity="warning",
    summary="A gate has no riskClass.",
    fix="Write the riskClass of what the gate guards: read_only, draft_create, send_external_message.",
    source="agent guide (seed 003), rule 4",
    needs="cinatra",
    bad='{"component_type": "InputMessageNode", "id": "approve", "metadata": {"cinatra": {}}}',
    good='{"component_type": "InputMessageNode", "id": "approve", "metadata": {"cinatra": {"riskClass": "read_only"}}}',
)
def gate_without_risk_class(subject: Subject, report: Report) -> None:
    for gate in subject.of_type("InputMessageNode"):
        risk = gate.cinatra.get("riskClass")
        if isinstance(risk, str) and risk.strip():
            continue
        at = (
            gate.at("metadata", "cinatra", "riskClass")
            if "riskClass" in gate.cinatra
            else gate.pointer
        )
        report(
            f"{gate.label} has no riskClass for its step of the approval policy",
            subject.place(at),
            hint='a host takes "read_only": write it if that is what the gate guards',
        )

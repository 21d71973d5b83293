"""A gate names the person's answer.

an InputMessageNode without "outputs"   ->   OAS128; Agent Spec would call it "user_input"

An empty list, or one with two outputs, is OAS035.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS128",
    name="gate-output",
    severity="error",
    summary="An InputMessageNode of a Cinatra file declares no output.",
    fix="Declare the one output that the answer goes to.",
    source="Cinatra C1",
    needs="cinatra",
    aliases=("C1", "MISSING_INPUT_MESSAGE_OUTPUT"),
    bad='{"component_type": "InputMessageNode", "id": "review"}',
    good='{"component_type": "InputMessageNode", "id": "review",\n "outputs": [{"title": "reviewResult", "type": "string"}]}',
)
def gate_output(subject: Subject, report: Report) -> None:
    for gate in subject.of_type("InputMessageNode"):
        if gate.value.get("outputs") is None:
            report(
                f"{gate.label} declares no output for the answer",
                subject.place(gate.pointer),
                hint='add "outputs": [{"title": "userResponse", "type": "string"}]',
            )

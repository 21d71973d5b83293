"""A gate always asks: its own `requiresApproval` has no effect.

    InputMessageNode {"requiresApproval": false}     ->  OAS233: it pauses all the same
    InputMessageNode {"requiresApproval": true}, or without the key

Only an entry of gateSteps at the outer FlowNode, or the host's policy, waives a gate.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS233",
    name="gate-asks-anyway",
    severity="warning",
    summary="A gate says that it requires no approval, and pauses all the same.",
    fix="Remove requiresApproval; a host's policy or an entry of gateSteps decides which gate asks.",
    source="Cinatra, approval steps: an InputMessageNode always asks",
    needs="cinatra",
    bad='{"component_type": "InputMessageNode", …, "requiresApproval": false}',
    good='{"component_type": "InputMessageNode", …}',
)
def gate_asks_anyway(subject: Subject, report: Report) -> None:
    for gate in subject.of_type("InputMessageNode"):
        if gate.cinatra.get("requiresApproval") is False:
            report(
                f"{gate.label} says requiresApproval false, and asks a person all the same",
                subject.place(gate.at("metadata", "cinatra", "requiresApproval")),
                hint="remove it, or lead the run past the gate; a gate in a subflow is waived by "
                "an entry of gateSteps at its FlowNode",
            )

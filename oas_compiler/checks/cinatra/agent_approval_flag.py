"""`requiresApproval` of an AgentNode is true or false.

metadata.cinatra.requiresApproval: "yes"   ->   OAS110
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS110",
    name="agent-approval-flag",
    severity="error",
    summary="requiresApproval of an AgentNode is neither true nor false.",
    fix="Write true or false, without quotes.",
    source="Cinatra V12",
    needs="cinatra",
    aliases=("V12",),
    bad='"metadata": {"cinatra": {"requiresApproval": "true"}}',
    good='"metadata": {"cinatra": {"requiresApproval": true}}',
)
def agent_approval_flag(subject: Subject, report: Report) -> None:
    for node in subject.of_type("AgentNode"):
        flag = node.cinatra.get("requiresApproval", False)
        if not isinstance(flag, bool):
            report(
                f"requiresApproval of {node.label} must be true or false, not {describe(flag)}",
                subject.place(node.at("metadata", "cinatra", "requiresApproval")),
            )

"""Child agents are declared in package.json; a host does not read them from the flow.

metadata.cinatra.agentDependencies {"@x/mail-agent": "^1.0.0"} in oas.json   ->   OAS190
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS190",
    name="agent-dependencies-in-flow",
    severity="warning",
    summary="The flow declares agentDependencies, which a host reads from package.json only.",
    fix="Move them to cinatra.agentDependencies of package.json.",
    source="agent guide, rule 11; Cinatra, compile rule 9",
    needs="cinatra",
    also=("guide-rule-11",),
    bad='oas.json:      "metadata": {"cinatra": {"agentDependencies": {"@acme/mail-agent": "^1.2.0"}}}',
    good='package.json:  "cinatra": {"agentDependencies": {"@acme/mail-agent": "^1.2.0"}}',
)
def agent_dependencies_in_flow(subject: Subject, report: Report) -> None:
    for flow in subject.of_type("Flow"):
        if flow.cinatra.get("agentDependencies"):
            report(
                f"{flow.label} declares agentDependencies, which no host reads here",
                subject.place(flow.at("metadata", "cinatra", "agentDependencies")),
                hint="move them to cinatra.agentDependencies of package.json",
            )

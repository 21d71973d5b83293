"""An agent of the same host is run as a subflow, not called over the network.

"agent_url": "{{CINATRA_BASE_URL}}/agents/acme/mail"   ->   OAS124
"agent_url": "http://localhost:3000/agents/mail"       ->   OAS124

An address that leads elsewhere is OAS207, whatever its path.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import is_internal
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS124",
    name="internal-agent",
    severity="error",
    summary="An A2AAgent points at an agent of the host itself.",
    fix="Run it as a subflow: a FlowNode with metadata.cinatra.packageName of that agent.",
    source="Cinatra V31",
    needs="cinatra",
    aliases=("V31", "OAS-RUNTIME-008"),
    also=("V18", "untrusted_external_url"),
    bad='{"component_type": "A2AAgent", "agent_url": "{{CINATRA_BASE_URL}}/api/a2a/agents/mail"}',
    good='{"component_type": "FlowNode", "subflow": {"$component_ref": "mail-flow"}}',
)
def internal_agent(subject: Subject, report: Report) -> None:
    for agent in subject.of_type("A2AAgent"):
        if is_internal(agent.text("agent_url")):
            report(
                f"{agent.label} is an agent of the host itself",
                subject.place(agent.at("agent_url")),
                hint="run it with a FlowNode: its gates and outputs then belong to this run",
            )

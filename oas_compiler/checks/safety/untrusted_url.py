"""An agent or a toolbox of a Cinatra flow is reached through the platform and nowhere else.

"agent_url": "https://agents.example.com/a2a"          ->  OAS207
"agent_url": "{{CINATRA_BASE_URL}}.example.com/a2a"    ->  OAS207: another host after all
"agent_url": "{{CINATRA_BASE_URL}}/api/a2a/agents/x", "/api/a2a/agents/x", ""
"""

from __future__ import annotations

from oas_compiler.checks.addresses import addresses
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS207",
    name="untrusted-url",
    severity="error",
    summary="The address of an agent or of a toolbox does not lead to the platform.",
    fix="Begin it with {{CINATRA_BASE_URL}}/ or with /.",
    source="Cinatra V18",
    needs="cinatra",
    aliases=("V18", "untrusted_external_url"),
    bad='"agent_url": "https://agents.example.com/a2a"',
    good='"agent_url": "{{CINATRA_BASE_URL}}/api/a2a/agents/writer"',
)
def untrusted_url(subject: Subject, report: Report) -> None:
    for component, field, address in addresses(subject, "A2AAgent", "MCPToolBox"):
        if not (address.platform or address.path):
            report(
                f'the "{field}" of {component.label} does not lead to the platform',
                subject.place(component.at(field)),
                hint='begin it with "{{CINATRA_BASE_URL}}/" or with "/"',
            )

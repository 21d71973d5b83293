"""An agent or a toolbox of a Cinatra flow is reached through the platform and nowhere else.

MCPToolBox "url": "https://tools.example.com/mcp"           ->  OAS207
MCPToolBox "url": "{{CINATRA_BASE_URL}}.example.com/mcp"    ->  OAS207: another host after all
MCPToolBox "url": "{{CINATRA_BASE_URL}}/api/mcp", "/api/mcp", ""

An agent of the host itself, also by another name of it ("http://localhost/…"), is OAS124.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import addresses, is_internal
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS207",
    name="untrusted-url",
    severity="error",
    summary="The address of an agent or of a toolbox does not lead to the platform.",
    fix="Begin it with {{CINATRA_BASE_URL}}/ or with /.",
    source="Cinatra V18",
    needs="cinatra",
    aliases=("V18", "untrusted_external_url"),
    bad='{"component_type": "MCPToolBox", "url": "https://tools.example.com/mcp"}',
    good='{"component_type": "MCPToolBox", "url": "{{CINATRA_BASE_URL}}/api/mcp"}',
)
def untrusted_url(subject: Subject, report: Report) -> None:
    for component, field, address in addresses(subject, "A2AAgent", "MCPToolBox"):
        if address.platform or address.path:
            continue
        if component.type != "A2AAgent" or not is_internal(component.text(field)):
            report(
                f'the "{field}" of {component.label} does not lead to the platform',
                subject.place(component.at(field)),
                hint='begin it with "{{CINATRA_BASE_URL}}/" or with "/"',
            )

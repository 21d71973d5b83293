"""A Cinatra flow calls its platform; a call to another host carries no identity of the run.

"url": "https://api.example.com/items"      ->  OAS208 (warning)
"url": "{{CINATRA_BASE_URL}}/api/agents/passthrough"
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import CALLERS, TRANSPORTS, addresses
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS208",
    name="foreign-host",
    severity="warning",
    summary="A call of a Cinatra flow goes to a host that is written out instead of to the platform.",
    fix="Let a tool of the platform make the call, or name the host by an {{UPPER_CASE}} placeholder.",
    source="agent guide, rule 14; Cinatra, runtime headers",
    needs="cinatra",
    bad='"url": "https://api.example.com/items"',
    good='"url": "{{CINATRA_BASE_URL}}/api/agents/passthrough"',
)
def foreign_host(subject: Subject, report: Report) -> None:
    for component, field, address in addresses(subject, *CALLERS, *TRANSPORTS):
        if address.host and not address.is_loopback and not _has_other_scheme(address.scheme):
            report(
                f'{component.label} calls "{address.host[:80]}" and not the platform: the call '
                "carries no identity of the run",
                subject.place(component.at(field)),
                hint='a tool of the platform is called at "{{CINATRA_BASE_URL}}/api/agents/passthrough"',
            )


def _has_other_scheme(scheme: str) -> bool:
    """Whether nothing is called there at all, which OAS252 says."""
    return scheme not in {"", "http", "https"}

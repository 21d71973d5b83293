"""Requests that leave the machine are encrypted.

"url": "http://api.example.com/items"      ->  OAS209 (warning)
"url": "https://api.example.com/items", "http://localhost:8000/items"
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import CALLERS, TRANSPORTS, addresses
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS209",
    name="plain-http",
    severity="warning",
    summary="A call goes to another machine over plain http.",
    fix="Write https.",
    source="this project",
    needs="document",
    bad='"url": "http://api.example.com/items"',
    good='"url": "https://api.example.com/items"',
)
def plain_http(subject: Subject, report: Report) -> None:
    for component, field, address in addresses(subject, *CALLERS, *TRANSPORTS, "A2AAgent", "MCPToolBox"):  # fmt: skip
        if address.scheme == "http" and address.host and not address.is_loopback:
            report(
                f'{component.label} calls "{address.host[:80]}" over plain http: what is sent '
                "can be read on the way",
                subject.place(component.at(field)),
                hint='write "https://"',
            )

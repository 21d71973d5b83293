"""Values of a run never decide the host of a call.

"url": "https://{{ tenant }}.example.com/items", "url": "{{ url }}"      ->  OAS210 (warning)
"url": "https://example.com/items/{{ tenant }}", "url": "{{TENANT_URL}}/items"
"""

from __future__ import annotations

from cinatra_sdk.contract import BASE_URL
from oas_compiler.checks.lookup.api_calls import CALLERS, TRANSPORTS, addresses
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS210",
    name="templated-host",
    severity="warning",
    summary="Values of the run decide which host a call goes to.",
    fix="Write the host out, or name it by an {{UPPER_CASE}} placeholder that whoever installs the flow fills in.",
    source="this project",
    needs="document",
    bad='"url": "https://{{ tenant }}.example.com/items"',
    good='"url": "https://example.com/items/{{ tenant }}"',
)
def templated_host(subject: Subject, report: Report) -> None:
    for component, field, address in addresses(subject, *CALLERS, *TRANSPORTS, "A2AAgent", "MCPToolBox"):  # fmt: skip
        if address.templated and not _is_misspelt(
            component.text(field), component.titles("inputs")
        ):
            report(
                f"values of the run decide which host {component.label} calls",
                subject.place(component.at(field)),
                hint="keep placeholders behind the host; {{UPPER_CASE}} names are filled in before a run",
            )


def _is_misspelt(url: str, inputs: tuple[str, ...]) -> bool:
    """Whether the platform's placeholder is written in small letters, which OAS081 reports."""
    name = url.removeprefix("{{").partition("}}")[0].strip()
    return name not in {*inputs, BASE_URL} and name.upper() == BASE_URL

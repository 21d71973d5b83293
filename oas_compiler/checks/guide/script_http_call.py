"""A script of an agent does not call HTTP services by itself.

import requests                       ->   OAS186
const page = await fetch(address)     ->   OAS186
curl -s https://example.org           ->   OAS186
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.credentials.credential_names import set_of
from oas_compiler.checks.lookup.program_calls import WantedCalls, uses
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

_HTTP: Final = WantedCalls(
    python=set_of(
        "requests httpx httpx2 aiohttp urllib3 urllib.request http.client pycurl httplib2 treq grequests "
        "requests_html niquests"
    ),
    javascript=set_of(
        "axios node-fetch cross-fetch isomorphic-fetch undici got ky superagent needle request "
        "request-promise ofetch http https http2 node:http node:https node:http2 wretch"
    ),
    commands=set_of("curl wget http https xh httpie"),
    calls=frozenset({"fetch", "XMLHttpRequest", "EventSource", "WebSocket", "axios"}),
)


@rule(
    code="OAS186",
    name="script-http-call",
    severity="warning",
    summary="A script of the package calls an HTTP service by itself.",
    fix="Call an MCP tool instead; if there is none, the platform needs one.",
    source="agent guide, rule 14",
    needs="package",
    aliases=("guide-rule-14",),
    bad='const page = await fetch("https://api.example.org/contacts")',
    good='console.log("the flow fetches contacts with the MCP tool contacts_list")',
)
def script_http_call(subject: Subject, report: Report) -> None:
    files = subject.agent.files if subject.agent is not None else ()
    for script, file in subject.scripts:
        for use in uses(script, _HTTP, files):
            report(
                f"the script {script.file} calls out with {use.name}",
                use.place,
                hint="integrations belong to the platform: call its MCP tool, or ask for one",
                file=file,
            )

"""An agent of the same host is run as a subflow, not called over the network.

"agent_url": "{{CINATRA_BASE_URL}}/agents/acme/mail"   ->   OAS124
"agent_url": "http://localhost:3000/agents/mail"       ->   OAS124
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule

HOSTS = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1", "host.docker.internal"})  # noqa: S104 - an address to recognise
PATH = "/api/a2a/agents/"

_BASE_URL = re.compile(r"\s*\{\{\s*CINATRA_BASE_URL\s*\}\}")


@rule(
    code="OAS124",
    name="internal-agent",
    severity="error",
    summary="An A2AAgent points at an agent of the host itself.",
    fix="Run it as a subflow: a FlowNode with metadata.cinatra.packageName of that agent.",
    source="Cinatra V31",
    needs="cinatra",
    aliases=("V31", "OAS-RUNTIME-008"),
    bad='{"component_type": "A2AAgent", "agent_url": "{{CINATRA_BASE_URL}}/api/a2a/agents/mail"}',
    good='{"component_type": "FlowNode", "subflow": {"$component_ref": "mail-flow"}}',
)
def internal_agent(subject: Subject, report: Report) -> None:
    for agent in subject.of_type("A2AAgent"):
        if _is_internal(agent.text("agent_url")):
            report(
                f"{agent.label} is an agent of the host itself",
                subject.place(agent.at("agent_url")),
                hint="run it with a FlowNode: its gates and outputs then belong to this run",
            )


def _is_internal(url: str) -> bool:
    if _BASE_URL.match(url):
        return True
    whole = url if "://" in url or url.startswith("/") else f"//{url}"
    try:
        parts = urlsplit(whole)
    except ValueError:  # brackets of an address that do not match
        return PATH in url
    return (parts.hostname or "") in HOSTS or PATH in parts.path

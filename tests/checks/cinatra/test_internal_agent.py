from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import PARTS, mail_agent, parts
from tests.checks.rule_case import findings, found


def calling(url):
    flow = mail_agent()
    parts(flow)["other"] = {
        "component_type": "A2AAgent",
        "id": "other",
        "name": "O",
        "agent_url": url,
    }
    return flow


@pytest.mark.parametrize(
    "url",
    [
        "{{CINATRA_BASE_URL}}/agents/acme/mail",
        "{{ CINATRA_BASE_URL }}",
        "http://localhost:3000/agents/mail",
        "localhost:3000/agents/mail",
        "https://LOCALHOST/",
        "http://127.0.0.1/",
        "http://0.0.0.0:8000",
        "http://[::1]:3000/agents",
        "http://host.docker.internal:3000/",
        "/api/a2a/agents/acme/mail",
    ],
)
def test_an_agent_of_the_host_is_run_as_a_subflow(url):
    (finding,) = findings(calling(url), "OAS124")
    assert finding.pointer == f"{PARTS}/other/agent_url"
    assert finding.message == 'the A2AAgent "other" is an agent of the host itself'
    assert found(calling(url), "OAS207") == []


@pytest.mark.parametrize(
    "url",
    [
        "https://agents.example.com/mail",
        "https://localhost.example.com/mail",
        "https://example.com/?to=http://localhost/",
        "/agents/mail",
        "{{PARTNER_URL}}/agents/mail",
        "http://[::1/broken",
        "",
        7,
        None,
    ],
)
def test_a_foreign_agent_is_not(url):
    assert found(calling(url), "OAS124") == []


@pytest.mark.parametrize(
    "url",
    [
        "https://agents.example.com/api/a2a/agents/acme/mail",
        "{{CINATRA_BASE_URL}}.example.com/api/a2a/agents/acme/mail",
    ],
)
def test_the_path_of_the_host_on_another_host_is_untrusted_and_that_alone_is_told(url):
    assert found(calling(url), "OAS124") == []
    assert found(calling(url), "OAS207") == [f"{PARTS}/other/agent_url"]

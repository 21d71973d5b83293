from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, plain, start

CODE = "OAS208"


def calling(url):
    return flow_of(start(), api("call", url=url), end())


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com/items", "api.example.com"),
        ("HTTPS://Api.Example.com:8443/items", "api.example.com"),
        ("https://{{CINATRA_BASE_URL}}@evil.example/", ""),
        ("https://someone@api.example.com", "api.example.com"),
        ("https://[2001:db8::1]:8/x", "[2001:db8::1]"),
        ("//api.example.com/items", "api.example.com"),
    ],
)
def test_a_host_that_is_written_out_is_worth_a_warning(url, host):
    every = findings(calling(url), CODE)
    assert [finding.pointer for finding in every] == ["/$referenced_components/call/url"] * bool(
        host
    )
    for finding in every:
        assert finding.severity == "warning"
        assert finding.message.startswith(f'the ApiNode "call" calls "{host}" and not the platform')


@pytest.mark.parametrize(
    "url",
    ["{{CINATRA_BASE_URL}}/api/x", "/api/x", "http://localhost:3000/x", "http://127.0.0.1/x",
     "http://host.docker.internal:3000/x", "{{CRM_BASE_URL}}/x", "https://{{CRM_HOST}}/x", "api/x", ""],
)  # fmt: skip
def test_the_platform_and_hosts_that_are_filled_in_are_not(url):
    assert found(calling(url), CODE) == []


def test_a_plain_agent_spec_document_may_name_any_host():
    bad = calling("https://api.example.com/items")
    assert found(plain(bad), CODE) == []

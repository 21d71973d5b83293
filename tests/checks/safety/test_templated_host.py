from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, port, start

CODE = "OAS210"


def calling(url):
    return flow_of(
        start(port("tenant", default="")), api("call", url=url, inputs=[port("tenant")]), end(),
        edges=[("start", "tenant", "call", "tenant")],
    )  # fmt: skip


@pytest.mark.parametrize(
    "url",
    ["https://{{ tenant }}.example.com/x", "{{ tenant }}", "{{tenant}}/x", "{{ tenant | lower }}://x/y",
     "https://example.com:{{ tenant }}/x", "{{CINATRA_BASE_URL}}{{ tenant }}/x", "//{{ tenant }}/x"],
)  # fmt: skip
def test_values_of_a_run_must_not_decide_on_the_host(url):
    (finding,) = findings(calling(url), CODE)
    assert (finding.pointer, finding.severity) == ("/$referenced_components/call/url", "warning")


@pytest.mark.parametrize(
    "url",
    ["https://example.com/{{ tenant }}", "https://example.com?t={{ tenant }}", "/api/{{ tenant }}",
     "{{CINATRA_BASE_URL}}/api/{{ tenant }}", "{{TENANT_URL}}/x", "https://example.com/{{", "{{ tenant"],
)  # fmt: skip
def test_they_may_decide_on_what_follows_it(url):
    assert found(calling(url), CODE) == []


def test_a_long_row_of_open_braces_takes_time_in_proportion_to_its_length():
    assert found(calling("{{" * 200_000), CODE) == []

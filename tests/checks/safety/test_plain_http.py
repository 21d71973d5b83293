from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, start

CODE = "OAS209"


def calling(url):
    return flow_of(start(), api("call", url=url), end(), metadata={})


def test_plain_http_to_another_machine_is_worth_a_warning():
    (finding,) = findings(calling("http://api.example.com/items"), CODE)
    assert (finding.pointer, finding.severity) == ("/$referenced_components/call/url", "warning")
    assert finding.hint == 'write "https://"'
    assert found(calling("https://api.example.com/items"), CODE) == []


@pytest.mark.parametrize(
    "url", ["http://localhost/x", "http://127.0.0.1:8000", "http://[::1]:80/", "/x", "{{ url }}"]
)
def test_the_own_machine_and_unknown_hosts_are_not(url):
    assert found(calling(url), CODE) == []

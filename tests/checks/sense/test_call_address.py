from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, start

CODE = "OAS252"


def at(url):
    return flow_of(start(), api("call", url=url), end())


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("", 'write "https://…"'),
        ("api.example.org/x", 'write "https://api.example.org/x"'),
        ("api.example.org:8080", 'write "https://api.example.org:8080"'),
        ("htps://api.example.org/x", 'write "https://" or "http://"'),
        ("http:/api.example.org/x", 'write "http://"'),
        ("{{CINATRA_BASE_URL}}/api/a b", "write %20 for a blank"),
        ("{{CINATRA_BASE_URL}}/api/a ", "remove the blank"),
        (" {{CINATRA_BASE_URL}}/api/a", "remove the blank"),
        ('"{{CINATRA_BASE_URL}}/api/x"', "write the address alone"),
        ("<{{CINATRA_BASE_URL}}/api/x>", "write the address alone"),
        ("{{CINATRA_BASE_URL}}\\\\api", "write / instead"),
        ("https://{{CINATRA_BASE_URL}}/api/x", "at the beginning"),
        ("{{CINATRA_BASE_URL}}/{{ CINATRA_BASE_URL }}/api/x", "at the beginning"),
        ("api/llm-bridge", 'write "{{CINATRA_BASE_URL}}/api/llm-bridge"'),
        ("http://localhost:3000/api/llm-bridge", 'write "{{CINATRA_BASE_URL}}/api/llm-bridge"'),
    ],
)
def test_an_address_that_cannot_be_called_is_found_once(url, hint):
    (finding,) = findings(at(url), CODE)
    assert finding.pointer == "/$referenced_components/call/url"
    assert hint in finding.hint
    assert found(at(url), "OAS208") == []


@pytest.mark.parametrize(
    "url",
    ["https://api.example.org/x", "HTTP://api.example.org", "/api/x", "{{ address }}", "{{ a b }}/x",
     "{{CINATRA_BASE_URL}}/api/llm-bridge", "http://localhost:9000/notes", "{{ scheme }}://host/x"],
)  # fmt: skip
def test_any_other_address_is_fine(url):
    assert found(at(url), CODE) == []

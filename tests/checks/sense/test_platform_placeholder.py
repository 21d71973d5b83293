from __future__ import annotations

import pytest

from oas_compiler import check
from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, start

CODE = "OAS255"
BASE = "{{CINATRA_BASE_URL}}"


def at(url):
    return flow_of(start(), api("call", url=url), end())


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("{{CINATRA_BASEURL}}/api/llm-bridge", f"{BASE}/api/llm-bridge"),
        ("{{ CINATRA_BASE_UR }}/api/x", f"{BASE}/api/x"),
        ("{CINATRA_BASE_URL}/api/llm-bridge", f"{BASE}/api/llm-bridge"),
        ("${CINATRA_BASE_URL}/api/x", f"{BASE}/api/x"),
        ("$CINATRA_BASE_URL/api/x", f"{BASE}/api/x"),
        ("CINATRA_BASE_URL/api/x", f"{BASE}/api/x"),
    ],
)
def test_a_placeholder_that_nobody_fills_in_is_one_error(url, meant):
    (finding,) = findings(at(url), CODE)
    assert finding.pointer == "/$referenced_components/call/url"
    assert (finding.severity, finding.hint) == ("error", f'did you mean "{meant}"?')
    assert found(at(url), "OAS242") == found(at(url), "OAS252") == []


@pytest.mark.parametrize(
    "url",
    [f"{BASE}/api/x", f"{BASE}api/x", "{{CINATRA_URL}}/x", "{{MAIL_HOST}}/x", "{{ address }}/x"],
)
def test_any_other_beginning_is_no_error(url):
    assert found(at(url), CODE) == []


@pytest.mark.parametrize("name", ["CINATA_BASE_URL", "MY_CINATRA_BASE_URL"])
def test_a_name_that_a_host_may_give_a_value_is_a_warning_of_another_rule(name):
    made = at(f"{{{{{name}}}}}/api/x")
    assert found(made, CODE) == []
    given = check(made, env={name: "https://cinatra.example.org"})
    assert [finding for finding in given if finding.severity == "error"] == []


def test_a_name_of_the_runtime_gets_no_value_from_anybody():
    given = check(at("{{CINATRA_BASEURL}}/api/x"), env={"CINATRA_BASEURL": "https://a.example"})
    assert [finding.code for finding in given if finding.severity == "error"] == [CODE]

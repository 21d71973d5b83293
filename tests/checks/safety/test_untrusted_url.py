from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, node, plain, start

CODE = "OAS207"


def reaching(url, kind="A2AAgent", field="agent_url"):
    agent = {"component_type": kind, "id": "other", "name": "o", field: url}
    return flow_of(start(), node("AgentNode", "consult", agent=agent), end())


@pytest.mark.parametrize(
    "url",
    ["{{CINATRA_BASE_URL}}/api/a2a/agents/x", "{{ CINATRA_BASE_URL }}/api/x", "{{CINATRA_BASE_URL}}",
     "{{CINATRA_BASE_URL}}:3000/api/x", "/api/a2a/agents/x", "/", "", "{{CINATRA_BASE_URL}}?a=http://b"],
)  # fmt: skip
def test_the_platform_may_be_reached(url):
    assert found(reaching(url), CODE) == []


@pytest.mark.parametrize(
    "url",
    ["https://agents.example.com/a2a", "agents.example.com", "x",
     "//agents.example.com/a2a", "/\\agents.example.com", "{{CINATRA_BASE_URL}}.example.com/a2a",
     "{{CINATRA_BASE_URL}}@example.com", "{{CINATRA_BASE_URL}}{{ host }}", "{{ url }}",
     "https://{{CINATRA_BASE_URL}}/x", "{{OTHER_BASE_URL}}/x", " javascript:x"],
)  # fmt: skip
def test_nothing_else_may(url):
    (finding,) = findings(reaching(url), CODE)
    assert finding.pointer == "/$referenced_components/consult/agent/agent_url"
    assert (
        finding.message == 'the "agent_url" of the A2AAgent "other" does not lead to the platform'
    )


def test_an_agent_of_the_host_itself_is_another_rules_and_a_toolbox_there_is_not():
    url = "http://localhost:3000/x"
    assert found(reaching(url), CODE) == []
    assert len(found(reaching(url), "OAS124")) == 1
    assert len(found(reaching(url, "MCPToolBox", "url"), CODE)) == 1


def test_a_toolbox_has_its_address_in_url():
    bad = reaching("https://tools.example.com", "MCPToolBox", "url")
    assert found(bad, CODE) == ["/$referenced_components/consult/agent/url"]
    assert found(reaching("/mcp", "MCPToolBox", "url"), CODE) == []


def test_a_plain_agent_spec_document_may_name_any_host():
    bad = reaching("https://agents.example.com/a2a")
    assert found(plain(bad), CODE) == []


@pytest.mark.parametrize("odd", [None, 7, [], {}, True])
def test_odd_values_are_left_to_other_rules(odd):
    assert found(reaching(odd), CODE) == []

from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, gate, message, start

CODE = "OAS218"


@pytest.mark.parametrize("text", ["for {{REGION}}", "{{ REGION }}", "a {{REGION}} and b"])
def test_a_value_of_env_does_not_get_into_a_message(text):
    flow = flow_of(start(), message("say", text), end())
    (finding,) = findings(flow, CODE, env={"REGION": "canary-eu"})
    assert finding.pointer == "/$referenced_components/say/message"
    assert finding.severity == "warning"
    assert "canary" not in f"{finding}"


@pytest.mark.parametrize(
    "fields",
    [{"url": "{{REGION}}/x"}, {"data": {"a": ["{{ REGION }}"]}}, {"headers": {"x-region": "{{REGION}}"}},
     {"query_params": {"r": "{{REGION}}"}}],
)  # fmt: skip
def test_it_gets_into_every_part_of_a_request(fields):
    assert found(flow_of(start(), api("call", **fields), end()), CODE, env={"REGION": "eu"}) == []


def test_a_placeholder_without_a_value_is_the_platforms_business():
    flow = flow_of(start(), message("say", "for {{REGION}}"), gate("ask"), end())
    assert found(flow, CODE) == []
    assert found(flow, CODE, env={"OTHER": "x"}) == []

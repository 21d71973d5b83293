from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, start

CODE = "OAS247"
BRIDGE, PASS = "{{CINATRA_BASE_URL}}/api/llm-bridge", "{{CINATRA_BASE_URL}}/api/agents/passthrough"
AT = "/$referenced_components/call/data"


def calling(url, data):
    return flow_of(start(), api("call", url=url, data=data), end())


@pytest.mark.parametrize(
    ("url", "key", "meant"),
    [(BRIDGE, "usr", "user"), (BRIDGE, "agent_runid", "agent_run_id"), (BRIDGE, "maxSteps", "max_steps"),
     (PASS, "tol", "tool"), (PASS, "inputs", "input"), (PASS, "agentRunId", "agent_run_id")],
)  # fmt: skip
def test_a_misspelt_key_is_found_once(url, key, meant):
    whole = {"user": "x"} if url == BRIDGE else {"tool": "t", "agent_run_id": "{{ r }}"}
    whole.pop(meant, None)
    (finding,) = findings(calling(url, {**whole, key: "x"}), CODE)
    assert (finding.pointer, finding.hint) == (f"{AT}/{key}", f'did you mean "{meant}"?')


@pytest.mark.parametrize(("url", "data", "lacks"), [
    (BRIDGE, {"system": "s"}, "user"), (PASS, {"agent_run_id": "x"}, "tool"), (PASS, {"tool": "t"}, "agent_run_id"),
])  # fmt: skip
def test_a_key_that_the_route_needs_is_missed(url, data, lacks):
    (finding,) = findings(calling(url, data), CODE)
    assert finding.pointer == AT
    assert f'without "{lacks}"' in finding.message


@pytest.mark.parametrize(("url", "data"), [
    (BRIDGE, {"user": "x", "agent_id": "a", "cinatra_llm": {}, "toolbox_ids": [], "temperature": 1}),
    (PASS, {"tool": "t", "agent_run_id": "{{ r }}", "note": "x"}), ("https://x.example/llm", {"usr": "x"}),
])  # fmt: skip
def test_other_bodies_are_fine(url, data):
    assert found(calling(url, data), CODE) == []

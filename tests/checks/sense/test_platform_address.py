from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, start

CODE = "OAS242"
BASE = "{{CINATRA_BASE_URL}}"


def at(url):
    return flow_of(start(), api("call", url=url), end())


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        (f"{BASE}/api/llm-brige", "/api/llm-bridge"), (f"{BASE}/api/llm_bridge", "/api/llm-bridge"),
        (f"{BASE}/api/agent/passthrough", "/api/agents/passthrough"),
        (f"{BASE}/api/agents/passtrough", "/api/agents/passthrough"),
        (f"{BASE}/api/context-finalise", "/api/context-finalize"),
        (f"{BASE}/llm-bridge", "/api/llm-bridge"), (f"{BASE}/apis/llm-bridge", "/api/llm-bridge"),
        ("{{ CINATRA_URL }}/api/llm-bridge", "{{CINATRA_BASE_URL}}"),
        (f"{BASE}api/llm-bridge", f"{BASE}/api/llm-bridge"),
        (f"{BASE}//api/llm-bridge", f"{BASE}/api/llm-bridge"),
    ],
)  # fmt: skip
def test_an_address_that_is_almost_one_of_the_platforms_is_found(url, meant):
    (finding,) = findings(at(url), CODE)
    assert finding.pointer == "/$referenced_components/call/url"
    assert finding.hint == f'did you mean "{meant}"?'


@pytest.mark.parametrize(
    "url",
    [
        f"{BASE}/api/llm-bridge", f"{BASE}/api/agents/passthrough", f"{BASE}/api/press/notes",
        f"{BASE}/api/context", "https://api.example.org/llm-brige", "{{MAIL_HOST}}/api/send",
        f"{BASE}/api/objects/{{{{ id }}}}", "/api/llm-bridge",
    ],
)  # fmt: skip
def test_other_addresses_are_fine(url):
    assert found(at(url), CODE) == []

from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, start

CODE = "OAS253"
BRIDGE = "{{CINATRA_BASE_URL}}/api/llm-bridge"
AT = "/$referenced_components/call"


def calling(url=BRIDGE, method="POST", **data):
    call = api("call", url=url, data=data)
    return flow_of(start(), {**call, "http_method": method}, end())


@pytest.mark.parametrize(
    ("key", "wrong", "at", "hint", "right"),
    [
        ("max_steps", "six", "", "from 1 to 20", 20),
        ("max_steps", 0, "", "from 1 to 20", "{{ steps }}"),
        ("max_steps", True, "", "from 1 to 20", 1),
        ("toolbox_ids", "web_search", "", 'write ["web_search"]', ["web_search"]),
        ("toolbox_ids", ["web_serch"], "/0", 'did you mean "web_search"?', ["crm"]),
        ("cinatra_llm", "gpt", "", "preferredProvider", {"preferredProvider": "openai"}),
        ("cinatra_llm", {"preferedModel": "x"}, "/preferedModel", "preferredModel", {}),
        ("cinatra_llm", {"preferredProvider": "OpenAI"}, "/preferredProvider", "openai",
         {"preferredProvider": "{{ provider }}"}),
        ("output_schema", "{}", "", "as an object", {"type": "object"}),
        ("media", {"kind": "vidoe"}, "/kind", "video", {"kind": ""}),
    ],
)  # fmt: skip
def test_a_value_that_the_bridge_refuses_is_found_once(key, wrong, at, hint, right):
    (finding,) = findings(calling(**{key: wrong}), CODE)
    assert finding.pointer == f"{AT}/data/{key}{at}"
    assert hint in finding.hint
    assert found(calling(**{key: right}), CODE) == []
    assert found(calling(url="https://api.example.org/x", **{key: wrong}), CODE) == []


def test_routes_of_the_platform_take_post():
    assert found(calling(method="GET"), CODE) == [f"{AT}/http_method"]
    assert found(calling(method="post"), CODE) == []
    assert found(calling(url="{{CINATRA_BASE_URL}}/api/press", method="GET"), CODE) == []

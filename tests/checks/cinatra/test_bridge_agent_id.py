from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import PARTS, around, mail_agent, parts
from tests.checks.rule_case import found

WRITE = f"{PARTS}/write"


def test_a_bridge_call_names_its_agent():
    flow = mail_agent()
    assert found(flow, "OAS112") == []
    del parts(flow)["write"]["data"]["agent_id"]
    assert found(flow, "OAS112") == [WRITE]


@pytest.mark.parametrize("empty", ["", "  ", None, 7])
def test_an_empty_name_is_none(empty):
    flow = mail_agent()
    parts(flow)["write"]["data"]["agent_id"] = empty
    assert found(flow, "OAS112") == [f"{WRITE}/data/agent_id"]


@pytest.mark.parametrize("field", ["body", "config"])
def test_body_and_config_count_like_data(field):
    flow = mail_agent()
    write = parts(flow)["write"]
    write[field] = {"agent_id": write["data"].pop("agent_id")}
    assert found(flow, "OAS112") == []
    write[field] = {"agent_id": ""}
    assert found(flow, "OAS112") == [f"{WRITE}/{field}/agent_id"]


def test_a_body_that_is_a_text_is_found_where_it_stands():
    flow = mail_agent()
    parts(flow)["write"]["data"] = '{"agent_id": "a"}'
    assert found(flow, "OAS112") == [f"{WRITE}/data"]


@pytest.mark.parametrize("data", [None, [], 7])
def test_a_body_that_is_no_object_names_nobody(data):
    flow = mail_agent()
    parts(flow)["write"]["data"] = data
    assert found(flow, "OAS112") == [WRITE]


@pytest.mark.parametrize(
    ("url", "is_bridge"),
    [
        ("/api/llm-bridge", True),
        ("{{CINATRA_BASE_URL}}/api/llm-bridge", True),
        ("{{CINATRA_BASE_URL}}/api/llm-bridge/v2", False),
        ("{{CINATRA_BASE_URL}}/api/agents/passthrough", False),
        (7, False),
    ],
)
def test_a_bridge_is_an_url_that_ends_in_its_path(url, is_bridge):
    flow = mail_agent()
    del parts(flow)["write"]["data"]["agent_id"]
    parts(flow)["write"]["url"] = url
    assert found(flow, "OAS112") == ([WRITE] if is_bridge else [])


def test_only_the_root_flow_is_looked_at():
    inner = mail_agent()
    del parts(inner)["write"]["data"]["agent_id"]
    assert found(around(inner), "OAS112") == []


def test_a_slash_at_the_end_leads_to_the_same_route():
    flow = mail_agent()
    write = parts(flow)["write"]
    write["url"] += "/"
    assert found(flow, "OAS112") == []
    del write["data"]["agent_id"]
    assert found(flow, "OAS112") == [f"{PARTS}/write"]
    write["url"] += "v2"
    assert found(flow, "OAS112") == []

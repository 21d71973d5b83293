"""A placeholder without a value in a header: the call is refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import end, flow_of, node, port, start

NOBODY = "http://127.0.0.1:9"
"""Where no server listens: a request that is sent fails in another way."""
FIX = "has no value; give it one by `env` (--env CRM_KEY=… at the command line)"


def request_flow(url: str, **fields: Any) -> dict[str, Any]:
    call = node("ApiNode", "call", url=url, http_method="POST", outputs=[], **fields)
    fed = [("start", "note", "call", "note")] if "note" in str(fields) else []
    return flow_of(start(port("note", default="")), call, end(), edges=fed)


def run(flow: Any, **more: Any) -> Any:
    made = compile_flow(flow, env=more.pop("env", {}))
    return drive(made, more, platform=HttpPlatform(NOBODY, allow=[f"{NOBODY}/crm"]))


@pytest.mark.parametrize("url", ["{{CINATRA_BASE_URL}}/api/x", f"{NOBODY}/crm", "{{CRM_URL}}/crm"])
@pytest.mark.parametrize("group", ["headers", "sensitive_headers"])
@pytest.mark.parametrize("value", ["{{CRM_KEY}}", "Bearer {{ CRM_KEY }}"])
def test_a_header_with_a_placeholder_without_a_value_is_not_sent(
    url: str, group: str, value: str
) -> None:
    ran = run(request_flow(url, **{group: {"X-Key": value}}), env={"CRM_URL": NOBODY})
    assert ran.status == "failed"
    assert 'node "call"' in str(ran.error)
    assert f'the placeholder {{{{CRM_KEY}}}} in the header "X-Key" {FIX}' in str(ran.error)


def test_a_header_of_a_tool_is_not_sent_either() -> None:
    tool = {
        "component_type": "RemoteTool", "id": "crm", "name": "crm", "url": f"{NOBODY}/crm",
        "http_method": "POST", "headers": {"X-Key": "{{CRM_KEY}}"}, "outputs": [],
    }  # fmt: skip
    ran = run(flow_of(start(), node("ToolNode", "call", tool=tool), end()))
    assert FIX in str(ran.error)


def test_a_placeholder_with_a_value_and_a_value_that_spells_one_reach_the_network() -> None:
    flow = request_flow(f"{NOBODY}/crm", headers={"X-Key": "{{CRM_KEY}}", "X-Note": "{{ note }}"})
    ran = run(flow, env={"CRM_KEY": "s3cret-of-crm"}, note="{{OTHER}}")
    assert ran.error.code == "platform_unreachable"


def test_a_simulation_needs_no_values() -> None:
    flow = request_flow(f"{NOBODY}/crm", headers={"X-Key": "{{CRM_KEY}}"})
    assert drive(compile_flow(flow)).status == "completed"


def test_a_header_of_an_mcp_server_is_not_sent_either() -> None:
    transport = {
        "component_type": "StreamableHTTPTransport", "id": "shop", "name": "shop",
        "url": f"{NOBODY}/mcp", "sensitive_headers": {"X-Key": "{{CRM_KEY}}"},
    }  # fmt: skip
    tool = {
        "component_type": "MCPTool", "id": "find", "name": "find", "client_transport": transport,
    }  # fmt: skip
    flow = {**flow_of(start(), node("ToolNode", "call", tool=tool), end())}
    made = compile_flow({**flow, "agentspec_version": "26.3.1"}, host=HostParts(allow=[NOBODY]))
    ran = drive(made, platform=HttpPlatform(None))
    assert "node 'call'" in str(ran.error)
    assert FIX in str(ran.error)


def test_a_header_of_an_agent_elsewhere_is_not_sent_either() -> None:
    agent = {
        "component_type": "A2AAgent", "id": "travel", "name": "Travel", "agent_url": NOBODY,
        "connection_config": {
            "component_type": "A2AConnectionConfig", "id": "way", "name": "way",
            "headers": {"X-Key": "{{CRM_KEY}}"},
        },
    }  # fmt: skip
    made = compile_flow({**agent, "agentspec_version": "26.1.0"}, host=HostParts(allow=[NOBODY]))
    ran = drive(made, {"user_message": "Rome?"}, platform=HttpPlatform(None))
    assert "node 'travel/agent'" in str(ran.error)
    assert FIX in str(ran.error)

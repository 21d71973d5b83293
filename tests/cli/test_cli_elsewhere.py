"""A run that goes to servers, models or agents elsewhere makes nothing up unless it is told to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flows import end, flow_of, node, port, start

CLOSED = "http://127.0.0.1:9"


def mcp_flow() -> dict[str, Any]:
    transport = {
        "component_type": "StreamableHTTPTransport",
        "id": "shop",
        "name": "shop",
        "url": f"{CLOSED}/mcp",
    }
    tool = {
        "component_type": "MCPTool", "id": "price-tool", "name": "price", "inputs": [],
        "outputs": [port("euro")], "client_transport": transport,
    }  # fmt: skip
    return flow_of(
        start(), node("ToolNode", "price", tool=tool), end(port("euro")),
        edges=[("price", "euro", "end", "euro")],
    )  # fmt: skip


def model_flow() -> dict[str, Any]:
    model = {
        "component_type": "VllmConfig",
        "id": "own",
        "name": "own",
        "model_id": "own",
        "url": CLOSED,
    }
    own = {
        "component_type": "Agent", "id": "helper", "name": "Helper", "llm_config": model,
        "system_prompt": "Help.", "inputs": [], "outputs": [], "tools": [],
    }  # fmt: skip
    return flow_of(start(), node("AgentNode", "work", agent=own), end())


def remote_flow() -> dict[str, Any]:
    own = {
        "component_type": "A2AAgent", "id": "far", "name": "Far", "agent_url": CLOSED,
        "connection_config": {"component_type": "A2AConnectionConfig", "id": "way", "name": "way"},
        "inputs": [], "outputs": [],
    }  # fmt: skip
    said = {**own, "inputs": [port("say")]}
    return flow_of(
        start(port("say", default="hi")), node("AgentNode", "work", agent=said), end(),
        edges=[("start", "say", "work", "say")],
    )  # fmt: skip


@pytest.mark.parametrize("make", [mcp_flow, model_flow, remote_flow])
def test_a_closed_address_is_refused_and_nothing_is_made_up(
    cli: Any, flow_file: Any, make: Any
) -> None:
    told = cli("run", flow_file(make()), "--detach")
    assert told.exit_code == 6, told.output
    assert "does not open" in told.output
    assert "--allow" in told.output


@pytest.mark.parametrize("make", [mcp_flow, model_flow])
def test_a_simulation_that_is_asked_for_answers(cli: Any, flow_file: Any, make: Any) -> None:
    told = cli("run", flow_file(make()), "--yes", "--simulate")
    assert told.exit_code == 0, told.output

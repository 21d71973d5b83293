"""Flows with one agent, for tests."""

from __future__ import annotations

from typing import Any

from tests.flows import end, flow_of, node, port, start


def server_tool(name: str, inputs: list[Any], outputs: list[Any], **more: Any) -> dict[str, Any]:
    tool = {"component_type": "ServerTool", "id": f"{name}-tool", "name": name}
    return {**tool, "description": f"Does {name}.", "inputs": inputs, "outputs": outputs, **more}


SEARCH = server_tool("search", [port("query")], [port("found")])
SEND = server_tool("send", [port("to"), port("copies", "integer", default=1)], [port("sent", "boolean")],
                   requires_confirmation=True)  # fmt: skip
TEXT = [port("report")]
RESULT = [port("brand"), port("hp", "integer")]


def agent(*tools: Any, outputs: Any = (), asks: bool = False, **more: Any) -> dict[str, Any]:
    return {
        "component_type": "Agent", "id": "helper", "name": "Helper",
        "llm_config": {"component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5"},
        "system_prompt": "Help with {{ topic }}.", "inputs": [port("topic")],
        "outputs": list(outputs), "tools": list(tools), "human_in_the_loop": asks, **more,
    }  # fmt: skip


def agent_flow(own: dict[str, Any], outputs: Any = ()) -> dict[str, Any]:
    """start → work → end, the agent at work."""
    return flow_of(
        start(*own["inputs"]), node("AgentNode", "work", agent=own), end(*outputs),
        edges=[*(("start", given["title"], "work", given["title"]) for given in own["inputs"]), *(("work", out["title"], "end", out["title"]) for out in outputs)],
    )  # fmt: skip

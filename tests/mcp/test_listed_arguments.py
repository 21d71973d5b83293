"""What a model gives a listed tool is checked by the schema of its server, before the server is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

from cinatra_sdk import HostParts
from cinatra_sdk.host.bridge.toolboxes import BridgeTool
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import adrive, drive
from cinatra_sdk.tool_loop import ArgumentsUnusable
from oas_compiler import compile_flow
from tests.agents.agent_flows import agent, agent_flow
from tests.agents.test_agent import asks_for
from tests.mcp.test_mcp_tools import box, told

PERSON = {
    "type": "object", "required": ["to"], "additionalProperties": False,
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "minimum": 1}},
}  # fmt: skip
TRAP = {"type": "object", "properties": {"to": {"type": "string", "pattern": "^(a+)+$"}}}
TREE = {
    "type": "object", "properties": {"to": {"$ref": "#/$defs/tree"}},
    "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}},
}  # fmt: skip
CIRCLE = {
    "type": "object",
    "properties": {"to": {"$ref": "#/$defs/a"}},
    "$defs": {"a": {"$ref": "#/$defs/a"}},
}
FAR = {"type": "object", "properties": {"to": {"$ref": "https://schemas.example/to.json"}}}


def make_server(schema: Mapping[str, Any], made: list[Any]) -> Server[Any]:
    """Takes whatever it is sent, and tells of it in `made`."""

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="send", input_schema=dict(schema))])

    async def call_tool(_context: Any, params: Any) -> CallToolResult:
        made.append(params.arguments)
        return CallToolResult(content=[TextContent(type="text", text="sent")])

    return Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


def make_flow(schema: Mapping[str, Any], *given: Any) -> tuple[Any, ScriptedModel, list[Any]]:
    """A flow whose model calls `send` with each of `given`, then ends."""
    made: list[Any] = []
    model = ScriptedModel([*(asks_for(("send", one)) for one in given), "Done."])
    whole = {**agent_flow(agent(toolboxes=[box()])), "agentspec_version": "26.3.1"}
    host = HostParts(blocked_components=())
    flow = compile_flow(
        whole, models={"*": model}, mcp={"shop": make_server(schema, made)}, host=host
    )
    return flow, model, made


@pytest.mark.parametrize(
    ("schema", "given", "words"),
    [
        (PERSON, {"to": 7}, "to: not of type 'string', got integer"),
        (PERSON, {"copies": 1}, "the value: lacks the required 'to'"),
        (PERSON, {"to": "ada", "copies": True}, "copies: not of type 'integer', got boolean"),
        (PERSON, {"to": "ada", "copies": 0}, "copies: less than the minimum of 1"),
        (PERSON, {"to": "ada", "all": True}, "a key that is not allowed; known are 'to', 'copies'"),
        (TREE, {"to": {"next": {"next": 7}}}, "to/next/next: not of type 'object', got integer"),
        (TRAP, {"to": "a" * 60 + "!"}, "to: "),
        (CIRCLE, {"to": "ada"}, "to: "),
        (FAR, {"to": "ada"}, "its schema is no JSON Schema that can be checked"),
    ],
    ids=["type", "missing", "boolean", "minimum", "unknown", "tree", "trap", "circle", "remote"],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_told_to_the_model_and_not_sent(
    schema: Any, given: Any, words: str
) -> None:
    flow, model, made = make_flow(schema, given)
    ran = drive(flow, {"topic": "bees"})
    assert (ran.status, made) == ("completed", []), ran.error
    (said,) = told(model)
    assert said.startswith("the call cannot be made: the arguments do not fit: ")
    assert words in said


def test_a_model_may_ask_again_with_what_fits() -> None:
    flow, model, made = make_flow(PERSON, {"to": 7}, {"to": "ada", "copies": 2})
    ran = asyncio.run(adrive(flow, {"topic": "bees"}))
    assert (ran.status, made) == ("completed", [{"to": "ada", "copies": 2}]), ran.error
    assert told(model)[1] == "sent"


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (PERSON, {"to": "ada"}),
        (TREE, {"to": {"next": {"next": {}}}}),
        (TRAP, {"to": "aaa"}),
        ({"type": "object"}, {"whatever": None}),
    ],
)
def test_arguments_that_fit_are_sent_as_they_are(schema: Any, given: Any) -> None:
    flow, model, made = make_flow(schema, given)
    assert drive(flow, {"topic": "bees"}).status == "completed"
    assert (made, told(model)) == ([given], ["sent"])


@pytest.mark.parametrize("given", [{"to": 7}, {}, {"to": "ada", "more": []}])
def test_the_bridge_says_the_same(given: Any) -> None:
    flow, model, made = make_flow(PERSON, given)
    assert drive(flow, {"topic": "bees"}).status == "completed"
    tool = BridgeTool(name="send", schema=PERSON, run=lambda _call, _arguments: made.append(1))
    with pytest.raises(ArgumentsUnusable) as refused:
        tool.read_arguments(given)
    assert (told(model), made) == ([f"the call cannot be made: {refused.value}"], [])

"""Messages that a client is streamed are JSON, and those of the state keep their seal."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, messages_to_dict
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.langgraph_threads.list_channels import Conversation
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, node, port, start

SAYING = flow_of(
    start(port("x", default="hi")),
    node("OutputMessageNode", "say", message="hello {{ x }}", inputs=[port("x")]),
    gate("ask", inputs=[port("x")]),
    end(port("y")),
    edges=[("start", "x", "say", "x"), ("start", "x", "ask", "x"), ("ask", "userResponse", "end", "y")],
)  # fmt: skip


def find_messages(part: Any) -> list[BaseMessage]:
    if isinstance(part, BaseMessage):
        return [part]
    members = part.values() if isinstance(part, dict) else part if isinstance(part, tuple) else ()
    return [found for member in members for found in find_messages(member)]


@pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])
@pytest.mark.parametrize("fuse", [True, False], ids=["fused", "drawn"])
@pytest.mark.parametrize(
    "asked",
    [
        {"stream_mode": "messages"},
        {"stream_mode": ["messages", "custom"]},
        {"stream_mode": "messages", "subgraphs": True},
        {"stream_mode": ["messages", "custom"], "subgraphs": True},
        {"stream_mode": "messages", "version": "v2"},
    ],
    ids=str,
)
def test_a_streamed_message_is_json(asked: dict[str, Any], *, fuse: bool, loops: bool) -> None:
    flow = compile_flow(SAYING)
    graph = flow.graph(InMemorySaver(), fuse=fuse)
    config, context = flow.config(run_id="r"), flow.context(run_id="r")

    async def stream() -> list[Any]:
        begun = graph.astream(flow.input({}), config, context=context, **asked)
        return [part async for part in begun]

    if loops:
        parts = asyncio.run(stream())
    else:
        parts = list(graph.stream(flow.input({}), config, context=context, **asked))
    (said,) = [message for part in parts for message in find_messages(part)]
    assert json.loads(json.dumps(messages_to_dict([said])))[0]["data"]["content"] == "hello hi"
    assert said.additional_kwargs["node"] == "say"
    (kept,) = graph.get_state(config).values["messages"]
    assert Conversation.is_sealed(kept)
    assert kept.id == said.id

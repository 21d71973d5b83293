"""A `next` too many in a function of the host is an error, and no call that waits for ever."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from bridge_world import ask, bridge_of, offered

from cinatra_sdk.attachments import aresolve_attachments, read_ref
from cinatra_sdk.host.bridge.toolboxes import BridgeTool, Toolbox
from cinatra_sdk.host.passthrough.passthrough_route import NamedTool, Passthrough
from cinatra_sdk.outside.http_calls.protocol import PlatformResponseError
from cinatra_sdk.outside.models.model_scripts import ScriptedReply
from cinatra_sdk.outside.routes import RoutedPlatform
from tests.bridge.bridge_world import own

PATIENCE = 20
"""Seconds that no test takes."""


def too_far(*_given: Any, **_named: Any) -> Any:
    return next(iter(()))


def refused_of(platform: RoutedPlatform, call: Any) -> Any:
    async def wait() -> Any:
        return await asyncio.wait_for(platform.acall(call), PATIENCE)

    with pytest.raises(PlatformResponseError) as raised:
        asyncio.run(wait())
    return raised.value.status


def test_a_route() -> None:
    routed = RoutedPlatform({"POST /api/llm-bridge": too_far}, identify=own)
    assert refused_of(routed, ask({})) == 500


def test_a_tool_by_name() -> None:
    route = Passthrough.of([NamedTool(name="a", run=too_far)])
    routed = RoutedPlatform({"POST /api/llm-bridge": route}, identify=own)
    assert refused_of(routed, ask({"tool": "a", "agent_run_id": "r1"})) == 500


def test_a_tool_of_the_model() -> None:
    wants = ScriptedReply(tool_calls=({"name": "save", "args": {}},))
    model, double = offered("openai", "gpt-5-mini", [wants, "Done"])
    box = Toolbox.of([BridgeTool(name="save", run=too_far)])
    platform = bridge_of(model, toolboxes={"cinatra-mcp": box})

    async def wait() -> Any:
        return await asyncio.wait_for(platform.acall(ask({"user": "hi"})), PATIENCE)

    assert asyncio.run(wait()) == {"output": "Done"}
    assert "the tool failed" in str(double.asked[1].messages[-1].content)


def test_the_ports_of_files() -> None:
    ports: Any = SimpleNamespace(cache_get=too_far, provider_upload=too_far, cache_put=too_far)

    ref = read_ref(
        {
            "artifactId": "a1", "representationRevisionId": "r1", "digest": "d",
            "mime": "application/pdf", "originKind": "upload",
        }
    )  # fmt: skip

    async def wait() -> Any:
        resolving = aresolve_attachments([ref], "openai", "gpt-5", ports)
        return await asyncio.wait_for(resolving, PATIENCE)

    (file,) = asyncio.run(wait()).unreadable
    assert file.reason == "provider upload failed: the function raised StopIteration"

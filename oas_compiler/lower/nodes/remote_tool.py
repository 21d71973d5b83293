"""ToolNode over a RemoteTool: the call of an ApiNode, described by the tool.

A tool that requires confirmation asks a person first; the gate shows the tool's name, its arguments
and where the request goes.  What is compared before the call is the whole request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.effects import Effect
from cinatra_sdk.effects.calls import effect_of
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.confirmed import make_confirmed
from oas_compiler.ir import RemoteToolNode
from oas_compiler.lower.nodes.api import lower_api, make_prepare_call
from oas_compiler.lower.registry import LoweringSite


def lower_remote_tool(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, RemoteToolNode)
    body = lower_api(site)
    if not node.behind.asks_person:
        return body
    prepare = make_prepare_call(node, frame, site.wiring)

    def describe(state: Mapping[str, Any]) -> Effect:
        return effect_of(prepare(state, get_runtime(HostContext).context))

    def show(state: Mapping[str, Any], effect: Effect) -> dict[str, JsonValue]:
        return {
            "call": node.tool_name,
            "arguments": frame.gather(state),
            "request": effect.capability,
        }

    return make_confirmed(frame, body, name=node.name, effect=describe, show=show)

"""From a file to a `Flow`, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from cinatra_sdk.platform import Platform, SimulatedPlatform, platform_from
from oas_compiler.lower.flow import Flow
from oas_compiler.pipeline import compile_ir


def compile_flow(
    source: str | os.PathLike[str] | bytes | Mapping[str, object],
    *,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    platform: Platform | None = None,
    model: object | None = None,
    env: Mapping[str, str] | None = None,
) -> Flow:
    """Compile an OAS flow.

    source:   path of the file or of its package folder, the bytes of it, or its content as a dict.
    tools:    Python functions by name, for ToolNodes over server tools.
    platform: who answers the flow's HTTP calls; a `SimulatedPlatform` by default.
    model:    kept for LLM nodes, which are refused so far; must be None.
    env:      values for `{{UPPER_CASE}}` placeholders of the file.

    Raises: `CompileError` with every finding, and nothing else, whatever `source` is.
    """
    if model is not None:
        raise TypeError(
            "model is not used yet: flows reach a model through the platform's llm-bridge"
        )
    registered = dict(tools or {})
    compiled = compile_ir(source, env=env, tools=registered)
    return Flow(
        compiled=compiled,
        platform=platform if platform is not None else SimulatedPlatform(),
        tools=registered,
        env=dict(env or {}),
    )


def flow_from_store(
    source: bytes,
    *,
    env: Mapping[str, str],
    platform: Mapping[str, Any] | Platform,
    tools: Mapping[str, Callable[..., Any]],
) -> Flow:
    """The flow of a stored run, made again in another process.

    `platform` is a description (`Platform.describe()`) or a platform that the host gives.
    Found by `cinatra_sdk.store` through the entry point `oasflow.flow_loader`.
    """
    made = platform_from(platform, env=os.environ) if isinstance(platform, Mapping) else platform
    return compile_flow(source, tools=tools, platform=made, env=env)

"""Around every node's own work: is it its turn, and what may its errors say.

In: a node's function `(state, runtime) -> update`.  Out: the function that the graph runs.

An error leaves a node as one of ours, with every credential of the run cut out of its text: the
engine writes the text of an exception into the database before anybody can catch it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphBubbleUp, is_invalid_resume
from langgraph.runtime import Runtime

from cinatra_sdk.context import HostContext, context_of
from cinatra_sdk.errors import FlowError
from cinatra_sdk.platform.protocol import PlatformError
from cinatra_sdk.secrets import redact
from oas_compiler.lower.frame import Frame
from oas_compiler.lower.registry import AsyncNodeFunction, Lowered, NodeFunction


def step(frame: Frame, lowered: Lowered) -> NodeFunction:
    """The node's function, only in its turn, raising only clean errors."""
    run, takes_turns, acts = lowered.run, lowered.takes_turns, lowered.acts

    def visit(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        try:
            if takes_turns and not frame.has_turn(state):
                return {}
            if acts:
                _ask_host(runtime)
            return run(state, runtime)
        except Exception as error:  # noqa: BLE001 - the border between a node and the engine
            raise _clean(frame, error, runtime) from None

    return visit


def async_step(frame: Frame, lowered: Lowered) -> AsyncNodeFunction | None:
    """As `step`; None where the node only computes."""
    arun, takes_turns, acts = lowered.arun, lowered.takes_turns, lowered.acts
    if arun is None:
        return None

    async def visit(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        try:
            if takes_turns and not frame.has_turn(state):
                return {}
            if acts:
                await asyncio.to_thread(_ask_host, runtime)
            return await arun(state, runtime)
        except Exception as error:  # noqa: BLE001 - the border between a node and the engine
            raise _clean(frame, error, runtime) from None

    return visit


def _ask_host(runtime: Runtime[HostContext]) -> None:
    """Before a call or a tool: the host may have stopped the run meanwhile."""
    ask = context_of(runtime.context).before_effect
    if ask is not None:
        ask()


def _clean(frame: Frame, error: Exception, runtime: Runtime[HostContext]) -> Exception:
    """`error` as it may be shown and stored."""
    if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
        return error  # a pause, and an answer that does not fit: the engine's own business
    held = context_of(runtime.context).credentials
    text = str(error)
    safe = redact(text, (held.run_token, held.bearer_token))
    if isinstance(error, (FlowError, PlatformError)):
        if safe != text:
            error.args = (safe,)
        return error
    return frame.failed(f"{type(error).__name__}: {safe[:500]}")

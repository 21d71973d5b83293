"""Wraps every node's function: checks the turn and its update, tells what happens, leaves the node.

In: a node's function `(state, runtime) -> update`.  Out: the function that the graph runs.

An error leaves a node as one of ours, with every credential of the run cut out of its text: the
engine writes the text of an exception into the database before anybody can catch it.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphBubbleUp, is_invalid_resume
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.errors import FlowError
from cinatra_sdk.flow.body import AsyncNodeFunction, NodeBody, NodeFunction
from cinatra_sdk.flow.frame import with_seen
from cinatra_sdk.flow.visiting import NodeVisit, Surroundings
from cinatra_sdk.governed.secrets import clean_error, redact
from cinatra_sdk.platform.protocol import PlatformError

State = Mapping[str, Any]


def step(about: Surroundings, body: NodeBody) -> NodeFunction:
    """The node's function, only in its turn, raising only clean errors."""
    visit = NodeVisit(about, body)
    run, acts = body.run, body.acts

    def work(state: State, runtime: Runtime[HostContext]) -> Any:
        if not visit.may_run(state):
            return {}
        telling = visit.tell_start(state, runtime)
        try:
            if acts:
                state = with_seen(state, visit.require_effects(state, runtime))
            update = visit.complete(state, run(state, runtime), runtime)
        except BaseException as error:  # noqa: BLE001 - the border between a node and the engine
            raised = _redact_error(about, error, runtime)
        else:
            visit.tell_finish(telling, update)
            return visit.leave(state, update, runtime)
        if telling is not None:
            telling.stopped(raised)
        # Raised out here: in the handler it would drag the original along, secrets and all.
        raise raised

    return work


def async_step(about: Surroundings, body: NodeBody) -> AsyncNodeFunction | None:
    """As `step`; None where neither the node nor any node that can run on waits."""
    if body.arun is None and not (about.level and about.level.waits):
        return None
    visit = NodeVisit(about, body)
    arun, acts = body.arun, body.acts

    async def compute(state: State, runtime: Runtime[HostContext]) -> Any:
        return body.run(state, runtime) if arun is None else await arun(state, runtime)

    async def work(state: State, runtime: Runtime[HostContext]) -> Any:
        if not visit.may_run(state):
            return {}
        telling = visit.tell_start(state, runtime)
        try:
            if acts:
                state = with_seen(state, await visit.arequire_effects(state, runtime))
            update = visit.complete(state, await compute(state, runtime), runtime)
        except CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the border between a node and the engine
            raised = _redact_error(about, error, runtime)
        else:
            visit.tell_finish(telling, update)
            return await visit.aleave(state, update, runtime)
        if telling is not None:
            telling.stopped(raised)
        raise raised

    return work


def _redact_error(
    about: Surroundings, error: BaseException, runtime: Runtime[HostContext]
) -> BaseException:
    """`error` as it may be shown and stored."""
    if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
        return error  # a pause, and an answer that does not fit: the engine's own business
    if isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt()
    secrets = about.secrets(runtime)
    if isinstance(error, (FlowError, PlatformError)) and clean_error(error, secrets):
        return error
    said = redact(f"{type(error).__name__}: {_format_error(error)}", secrets)
    return about.frame.failed(said[:500])


def _format_error(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        return "(it cannot say what went wrong)"

"""Wraps every node's function: checks the turn and its update, and removes credentials from its errors.

In: a node's function `(state, runtime) -> update`.  Out: the function that the graph runs.

An error leaves a node as one of ours, with every credential of the run cut out of its text: the
engine writes the text of an exception into the database before anybody can catch it.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.errors import GraphBubbleUp, is_invalid_resume
from langgraph.runtime import Runtime
from langgraph.types import Command

from cinatra_sdk.effects import aadmit, admit
from cinatra_sdk.engine.acting import arefuse_forks, refuse_forks
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.engine.tasks import was_sent
from cinatra_sdk.errors import FlowError
from cinatra_sdk.governed.secrets import clean_error, cut_out, redact
from cinatra_sdk.governed.state import has_ended
from cinatra_sdk.platform.protocol import PlatformError
from oas_compiler.lower.effects import effect_of
from oas_compiler.lower.frame import Frame, with_seen
from oas_compiler.lower.registry import AsyncNodeFunction, Lowered, NodeFunction
from oas_compiler.lower.updates import make_completion


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts about the node and the host that the wrapper needs."""

    frame: Frame
    placeholders: tuple[str, ...] = field(default=(), repr=False)
    """Values that the host gave as `env=`: secrets, like the run's credentials."""
    of_package: bool = False
    """Whether an installed package adds the node's kind."""

    def secrets(self, runtime: Runtime[HostContext]) -> tuple[str, ...]:
        held = context_of(runtime.context).credentials
        return (held.run_token, held.bearer_token, *self.placeholders)


def step(about: Surroundings, lowered: Lowered) -> NodeFunction:
    """The node's function, only in its turn, raising only clean errors."""
    frame, run, acts = about.frame, lowered.run, lowered.acts
    may_run = _make_turn_check(frame, lowered)
    complete = make_completion(frame, lowered, of_package=about.of_package)

    def visit(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        try:
            if not may_run(state):
                return {}
            if acts:
                seen = refuse_forks(
                    state,
                    runtime,
                    node=frame.where,
                    effects=frame.effects,
                    since=frame.seen_before(state),
                )
                state = with_seen(state, seen)
                if not lowered.performs:
                    admit(effect_of(frame, state), context_of(runtime.context).door)
            update = complete(state, run(state, runtime))
            return _remove_host_tokens(update, acts, runtime)
        except BaseException as error:  # noqa: BLE001 - the border between a node and the engine
            raised = _redact_error(about, error, runtime)
        # Raised out here: in the handler it would drag the original along, secrets and all.
        raise raised

    return visit


def async_step(about: Surroundings, lowered: Lowered) -> AsyncNodeFunction | None:
    """As `step`; None where the node only computes."""
    frame, arun, acts = about.frame, lowered.arun, lowered.acts
    if arun is None:
        return None
    may_run = _make_turn_check(frame, lowered)
    complete = make_completion(frame, lowered, of_package=about.of_package)

    async def visit(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        try:
            if not may_run(state):
                return {}
            if acts:
                seen = await arefuse_forks(
                    state,
                    runtime,
                    node=frame.where,
                    effects=frame.effects,
                    since=frame.seen_before(state),
                )
                state = with_seen(state, seen)
                if not lowered.performs:
                    await aadmit(effect_of(frame, state), context_of(runtime.context).door)
            update = complete(state, await arun(state, runtime))
            return _remove_host_tokens(update, acts, runtime)
        except CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the border between a node and the engine
            raised = _redact_error(about, error, runtime)
        raise raised

    return visit


def _make_turn_check(frame: Frame, lowered: Lowered) -> Callable[[Mapping[str, Any]], bool]:
    if lowered.acts:
        return lambda state: not was_sent() and not has_ended(state) and frame.has_turn(state)
    if lowered.takes_turns:
        return lambda state: not was_sent() and frame.has_turn(state)
    return lambda _state: not was_sent()


def _remove_host_tokens(update: Any, acts: bool, runtime: Runtime[HostContext]) -> Any:
    """What came from outside, without the host's tokens in it.

    Not without the values of placeholders: they may be any word, also one of a node or a channel.
    They are cut out of the answer itself, before it becomes an update.
    """
    if not acts:
        return update
    held = context_of(runtime.context).credentials
    tokens = (held.run_token, held.bearer_token)
    if isinstance(update, Command):
        return Command(update=cut_out(update.update, tokens), goto=update.goto)
    return cut_out(update, tokens)


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

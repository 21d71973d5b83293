"""The rules of a governed run, which every effect of its nodes is put before.

    with governed_by(governor):
        perform(effect, do, door)      governor.examine, then the ledger, then governor.redeem, then the call

A context variable, because a node's code reaches the door by many ways, and none may lead past the
rules.  `cinatra_sdk.governance` has the governors; here is what the door has to know of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from langgraph.errors import GraphBubbleUp
from pydantic import JsonValue

from cinatra_sdk.effects.effect import Effect, EffectResult
from cinatra_sdk.platform.trace_headers import sending_trace


class Governor(Protocol):
    """The rules of one visit of a node."""

    def examine(self, effect: Effect) -> Effect:
        """The effect with what the rules say of it, for its record; nothing is spent."""
        ...

    def redeem(self, effect: Effect) -> None:
        """Let it through, right before the call.

        Raises: `EffectRefused`; `GateNeeded` where a person has to approve it first.
        """
        ...

    def list_headers(self, effect: Effect) -> Mapping[str, str]:
        """Headers of the call: its place in the trace of the run."""
        ...

    def keep(self, effect: Effect, result: EffectResult) -> None:
        """Told what came of it, also where the ledger knew."""
        ...


class GateNeeded(GraphBubbleUp):
    """A person has to approve the effect first: the node asks, and begins again."""

    def __init__(self, asked: dict[str, JsonValue]) -> None:
        super().__init__()
        self.asked = asked
        """`{"gate", "snapshot_hash", "capability", "arguments", "mode", "evidence"}`."""


_governor: ContextVar[Governor | None] = ContextVar("cinatra_governor", default=None)


def current_governor() -> Governor | None:
    return _governor.get()


@contextmanager
def governed_by(governor: Governor) -> Iterator[None]:
    """Around the code of a node."""
    token = _governor.set(governor)
    try:
        yield
    finally:
        _governor.reset(token)


def examine_effect(effect: Effect) -> Effect:
    governor = _governor.get()
    return effect if governor is None else governor.examine(effect)


def redeem_effect(effect: Effect) -> None:
    governor = _governor.get()
    if governor is not None:
        governor.redeem(effect)


@contextmanager
def traced(effect: Effect) -> Iterator[None]:
    """Around the call itself: whoever is called finds the trace of the run."""
    governor = _governor.get()
    if governor is None:
        yield
        return
    with sending_trace(governor.list_headers(effect)):
        yield


def keep_result(effect: Effect, result: EffectResult) -> None:
    governor: Any = _governor.get()
    if governor is not None:
        governor.keep(effect, result)

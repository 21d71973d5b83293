"""The effect that is running, and its key, for a tool that talks to a receiver of its own.

    def send_invoice(number):
        client.post("/invoices", {"number": number}, headers={"Idempotency-Key": current_key()})

A context variable and no argument of the tool: a parameter that is filled because of its name
would change the meaning of tools that have such a parameter today.  A thread that the tool starts
itself sees the key only if the tool hands its context on (`contextvars.copy_context`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cinatra_sdk.effects.effect import Effect

_effect: ContextVar[Effect | None] = ContextVar("cinatra_effect", default=None)


def current_key() -> str:
    """The idempotency key of the running effect; empty outside of an effect."""
    effect = _effect.get()
    return "" if effect is None else effect.key


def current_effect() -> Effect | None:
    """The running effect; None outside of one."""
    return _effect.get()


@contextmanager
def running(effect: Effect) -> Iterator[None]:
    """Around the call itself, in the thread or task that makes it."""
    token = _effect.set(effect)
    try:
        yield
    finally:
        _effect.reset(token)

"""The key of the effect that is running, for a tool that talks to a receiver of its own.

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

_key: ContextVar[str] = ContextVar("cinatra_effect_key", default="")


def current_key() -> str:
    """The idempotency key of the running effect; empty outside of an effect."""
    return _key.get()


@contextmanager
def running(key: str) -> Iterator[None]:
    """Around the call itself, in the thread or task that makes it."""
    token = _key.set(key)
    try:
        yield
    finally:
        _key.reset(token)

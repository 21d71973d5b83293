"""The parts that a host gives to the door; each may be left out.

    Door(ledger=ledger, allow=lambda effect: Verdict.refuse("no mail on Sundays"), spend=budget.ask)

`cinatra_sdk.host_context(…)` makes one from its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from cinatra_sdk.events import Tell
from cinatra_sdk.outside.effects.effect import Effect, EffectFailure, Usage
from cinatra_sdk.outside.effects.ledger import Ledger, Remembered


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word of a policy on one effect, or on what a person would do (`cinatra_sdk.api.may`)."""

    allowed: bool
    reason: str = ""
    """Why not, in words that may be shown and stored."""
    code: str = ""
    """Why not, for programs; of what a person would do."""
    hint: str = ""
    """What the person can do instead."""

    @classmethod
    def allow(cls) -> Verdict:
        return cls(True)

    @classmethod
    def refuse(cls, reason: str, *, code: str = "", hint: str = "") -> Verdict:
        return cls(False, reason, code, hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectNews:
    """A change of an effect, for watchers."""

    effect: Effect
    stage: Literal["begun", "done", "replayed", "failed", "refused", "unknown"]
    usage: Usage | None = None
    """Of an effect that was done now or before, and of one that failed after it had used up something."""
    failure: EffectFailure | None = None
    """Of an effect that has no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The questions before and the news after every effect, in this order."""

    before: Callable[[Effect], None] | None = field(default=None, repr=False)
    """Whether the run is still ours: raises where it has ended, or another process goes on with it."""
    ledger: Ledger | None = None
    """None: nothing is replayed but effects that are at most once, of a run that this process began."""
    allow: Callable[[Effect], Verdict] | None = field(default=None, repr=False)
    """The policy.  An exception refuses, as does anything that is no `Verdict`."""
    spend: Callable[[Effect], None] | None = field(default=None, repr=False)
    """The budget: raises where nothing is left for this effect."""
    spent: Callable[[Effect, Usage], None] | None = field(default=None, repr=False)
    """Told what an effect used up, also before it failed; not told of a replayed one.  An exception is
    logged.
    """
    told: Callable[[EffectNews], None] | None = field(default=None, repr=False)
    """Watches.  An exception is logged and changes nothing."""
    remembered: Remembered | None = field(default=None, repr=False)
    """Of code that may begin again in this activation; asked where there is no ledger.  The runtime
    gives it, and no host.
    """
    tell: Tell | None = field(default=None, repr=False)
    """Takes the same as events of the run; returns at once."""


OPEN = Door()
"""Where the host gives no part: every effect is simply made."""


# ----------------------------------------------------------------------------
# The effect that is running, and its key, for a tool that talks to a receiver of its own.
#
#     def send_invoice(number):
#         `client.post("/invoices", {"number": number}, headers={"Idempotency-Key": current_key()})`
#
# A context variable and no argument of the tool: a parameter that is filled because of its name
# would change the meaning of tools that have such a parameter today.  A thread that the tool starts
# itself sees the key only if the tool hands its context on (`contextvars.copy_context`).


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

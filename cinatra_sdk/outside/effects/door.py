"""The parts that a host gives to the door, each of which may be left out; and the protocol of its ledger.

    Door(ledger=ledger, allow=lambda effect: Verdict.refuse("no mail on Sundays"), spend=budget.ask)

`cinatra_sdk.host_context(…)` makes a door from its arguments.

The ledger says of each effect, by its key, how `perform` goes on:

    begin(effect)   ->  Begun(attempt=1)         the key is new: the effect is begun now
                        Stored(result=…)         the effect was made: its result is replayed
                        Unknown()                it may have happened, and must not be repeated
                        Differs()                the key belongs to another request

A ledger belongs to one activation of one run.  Each activation has a number, its *fence*, and an
activation with a higher number has taken the run over from all with a lower one:

* A row that an earlier activation began and did not end was cut off by a crash.  The effect is begun
  again under the same key; where it is at most once, its status becomes `unknown` instead.
* A row that this activation began and has not ended is being made at this moment: `RunBusy`.
* An activation that was overtaken begins and records nothing: `RunBusy`.

A row whose status is `done` never changes.  `tests/effects/ledger_contract.py` holds the rules as
tests, for every ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Literal, Protocol, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.events import Tell
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectFailure, EffectResult, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The effect is to be made now."""

    attempt: int = 1
    """From 1; each has the same key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The effect was made before."""

    result: EffectResult
    """With the status `replayed`."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """An effect that is at most once was begun, and nobody knows whether it happened."""

    why: str = field(default="", compare=False)
    """What the ledger recorded of the attempt; empty where it was cut off."""


@dataclass(frozen=True, slots=True)
class Differs:
    """Under this key another request was begun or made: its arguments have another hash."""


Entry: TypeAlias = Begun | Stored | Unknown | Differs


class Ledger(Protocol):
    """Safe to share between threads.  Effects and results that it receives hold no secret."""

    @property
    def asks_run(self) -> bool:
        """Whether `begin` checks that the run is still ours, so that no earlier check is needed."""
        ...

    def begin(self, effect: Effect) -> Entry:
        """What is known of `effect.key`; a `Begun` is recorded before it is returned.

        Raises: `RunBusy`, where the activation was taken over, or is making the effect already;
        `RunEnded`, where the run has ended; `StoreError`.
        """
        ...

    def finish(self, effect: Effect, result: EffectResult) -> None:
        """Record the result of an effect that was begun here.

        Raises: `RunBusy`, `StoreError`.
        """
        ...

    def fail(self, effect: Effect, failure: EffectFailure) -> None:
        """Record that an effect that was begun here has no result.

        Its status is then `failed`, and the next `begin` begins it again; `unknown` where the
        effect is at most once and `failure.reached`.
        Raises: `RunBusy`, `StoreError`.
        """
        ...

    async def abegin(self, effect: Effect) -> Entry:
        """As `begin`, for an event loop."""
        ...

    async def afinish(self, effect: Effect, result: EffectResult) -> None:
        """As `finish`, for an event loop."""
        ...

    async def afail(self, effect: Effect, failure: EffectFailure) -> None:
        """As `fail`, for an event loop."""
        ...


# ----------------------------------------------------------------------------
# What stands in for the ledger of a host that gave none.
#
#     NothingKept().begin(effect)     -> Begun()          the checkpoints of the run are what is known
#     Remembered().begin(effect)      -> Stored(result)   where the same code made it a moment ago
#
# `Remembered` is for code that begins again in the same activation, because it asked a person and only
# a task of the engine has a place for the answer.  It lives as long as that code; nothing of it is
# stored, so it holds results as they are, and it is no ledger for an effect that is at most once.


class NothingKept:
    """Every effect is made whenever it is asked for."""

    asks_run = False

    def begin(self, _effect: Effect) -> Entry:
        return Begun()

    def finish(self, effect: Effect, result: EffectResult) -> None:
        """Keep nothing."""

    def fail(self, effect: Effect, failure: EffectFailure) -> None:
        """Keep nothing."""

    async def abegin(self, effect: Effect) -> Entry:
        return self.begin(effect)

    async def afinish(self, effect: Effect, result: EffectResult) -> None:
        self.finish(effect, result)

    async def afail(self, effect: Effect, failure: EffectFailure) -> None:
        self.fail(effect, failure)


class Remembered(NothingKept):
    """The results of effects by their keys; safe to share between threads."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[JsonValue, EffectResult]] = {}

    def __repr__(self) -> str:
        return f"Remembered({len(self._made)} effects)"

    def begin(self, effect: Effect) -> Entry:
        """Another request under the key is made, as without this."""
        arguments, result = self._made.get(effect.key, (None, None))
        if result is None or arguments != effect.arguments:
            return Begun()
        return Stored(result=result)

    def finish(self, effect: Effect, result: EffectResult) -> None:
        self._made[effect.key] = effect.arguments, result

    def forget(self) -> None:
        """Let go of all results: the code has ended."""
        self._made.clear()


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

"""The ledger: the state of each effect by its key, and its result.

In: an `Effect`.  Out: one of four entries, which decides how `perform` goes on.

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

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.outside.effects.effect import Effect, EffectFailure, EffectResult


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

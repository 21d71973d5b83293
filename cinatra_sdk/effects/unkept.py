"""What stands in for the ledger of a host that gave none.

    NothingKept().begin(effect)     -> Begun()          the checkpoints of the run are what is known
    Remembered().begin(effect)      -> Stored(result)   where the same code made it a moment ago

`Remembered` is for code that begins again in the same activation, because it asked a person and only
a task of the engine has a place for the answer.  It lives as long as that code; nothing of it is
stored, so it holds results as they are, and it is no ledger for an effect that is at most once.
"""

from __future__ import annotations

from pydantic import JsonValue

from cinatra_sdk.effects.effect import Effect, EffectResult
from cinatra_sdk.effects.failures import EffectFailure
from cinatra_sdk.effects.ledger import Begun, Entry, Stored


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

"""Effects for tests, and what may happen to one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

from cinatra_sdk.outside.effects.door import Door
from cinatra_sdk.outside.effects.effect import Effect, EffectResult
from cinatra_sdk.outside.effects.execution import aperform, perform

CANARY = "tok-canary-4711"
"""A secret of the run; must be in nothing that is kept or told."""

Performing: TypeAlias = Callable[[Effect, Callable[[], EffectResult], Door], EffectResult]


def effect(key: str = "k1", **given: Any) -> Effect:
    about: dict[str, Any] = {
        "kind": "http", "capability": "POST /mail", "node": "send", "path": "outer/send",
        "arguments": {"to": "ann", "n": 1}, "run_id": "r1",
    }  # fmt: skip
    return Effect(key=key, **{**about, **given})


def result(value: Any = None, **given: Any) -> EffectResult:
    return EffectResult(value={"id": "m-1"} if value is None else value, **given)


def perform_on_a_loop(made: Effect, do: Callable[[], EffectResult], door: Door) -> EffectResult:
    """`aperform` in the form of `perform`."""

    async def ado() -> EffectResult:
        return do()

    return asyncio.run(aperform(made, ado, door))


FORMS: dict[str, Performing] = {"plain": perform, "on a loop": perform_on_a_loop}


class Calls:
    """Counts how often an effect was made; does in turn what it was told to."""

    def __init__(self, *outcomes: EffectResult | BaseException) -> None:
        self.outcomes = list(outcomes)
        self.count = 0

    def __call__(self) -> EffectResult:
        self.count += 1
        outcome = self.outcomes.pop(0) if self.outcomes else result()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

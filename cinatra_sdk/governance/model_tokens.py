"""Tokens that a call of a model will take, before it is made.

    reserve_for(effect, estimate)   ->   812        of its messages, and of the most that it may answer

In: an effect, and the host's estimate of a text.  Out: a number of tokens; 0 where no model is called.
Nobody knows the length of an answer before: one without a bound of its own is counted when it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from cinatra_sdk.effects.effect import Effect
from cinatra_sdk.governance.call_facts import SIMULATED

_BOUNDS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_DEPTH: Final = 3
"""How deep a request says the bound of its answer."""


def reserve_for(effect: Effect, estimate: Callable[[str], int]) -> int:
    if effect.kind != "model" or effect.simulated or effect.capability.startswith(SIMULATED):
        return 0
    text = json.dumps(effect.arguments, ensure_ascii=False, default=str)
    return max(0, estimate(text)) + _find_bound(effect.arguments, _DEPTH)


def _find_bound(value: Any, depth: int) -> int:
    if not isinstance(value, Mapping):
        return 0
    for name in _BOUNDS:
        said = value.get(name)
        if isinstance(said, int) and not isinstance(said, bool) and said > 0:
            return said
    found = (_find_bound(one, depth - 1) for one in value.values()) if depth > 1 else ()
    return max(found, default=0)

"""The one door to the outside: whatever a node does outside of its run goes through `perform`.

door.py            `Door`: the parts that the host gives (ledger, policy, budget, events);
                   `current_key()`, for a tool that has a receiver of its own
effect.py          an `Effect`: what is to be done, under which key; `EffectResult`, `Usage`; an
                   error -> transient or permanent, and whether the effect may have happened
execution.py       `perform` and `aperform`: the order in which the parts are asked
ledger.py          the `Ledger` protocol: what is known about a key, and what came of it; what
                   stands in for a ledger, where the host gives none
memory_ledgers.py  `MemoryLedger`, the shipped double; ledgers in memory of the runs that this
                   process began, for what acts at most once
permits.py         asking policy and budget, telling watchers; code that says it does not act,
                   whose effects are refused; the rules of a governed run, which the door asks
                   first
platform_calls.py  a call of the platform as an effect

perform(effect, lambda: EffectResult(value=send(…)), door)   ->  EffectResult(value=…, status="done")
the same again, with a ledger                          ->  EffectResult(value=…, status="replayed")

Each name is imported on first use: reading stored runs must not load LangGraph, which performing does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.outside.effects.door import Door, EffectNews, Verdict, current_key
    from cinatra_sdk.outside.effects.effect import (
        Effect,
        EffectFailure,
        EffectResult,
        Usage,
        key_at,
        read_failure,
    )
    from cinatra_sdk.outside.effects.execution import aperform, perform
    from cinatra_sdk.outside.effects.ledger import Begun, Differs, Entry, Ledger, Stored, Unknown
    from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
    from cinatra_sdk.outside.effects.permits import aadmit, admit

__all__ = [
    "Effect",
    "EffectResult",
    "Usage",
    "key_at",
    "perform",
    "aperform",
    "admit",
    "aadmit",
    "current_key",
    "Door",
    "Verdict",
    "EffectNews",
    "Ledger",
    "Entry",
    "Begun",
    "Stored",
    "Unknown",
    "Differs",
    "MemoryLedger",
    "EffectFailure",
    "read_failure",
]

_LATER: Final = {
    "aadmit": "permits",
    "admit": "permits",
    "current_key": "door",
    "Door": "door",
    "EffectNews": "door",
    "Verdict": "door",
    "Effect": "effect",
    "EffectResult": "effect",
    "Usage": "effect",
    "key_at": "effect",
    "EffectFailure": "effect",
    "read_failure": "effect",
    "Begun": "ledger",
    "Differs": "ledger",
    "Entry": "ledger",
    "Ledger": "ledger",
    "Stored": "ledger",
    "Unknown": "ledger",
    "MemoryLedger": "memory_ledgers",
    "aperform": "execution",
    "perform": "execution",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.outside.effects.{_LATER[name]}"), name)

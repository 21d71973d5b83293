"""The one door to the outside: whatever a node does outside of its run goes through `perform`.

effect.py         an `Effect`: what is to be done, under which key;  `EffectResult`, `Usage`
failures.py       an error -> transient or permanent, and whether the effect may have happened
ledger.py         the `Ledger` protocol: what is known about a key, and what came of it
memory_ledger.py  `MemoryLedger`, the shipped double
process_ledgers.py  ledgers in memory of the runs that this process began, for what acts at most once
unkept.py         what stands in for a ledger, where the host gives none
door.py           `Door`: the parts that the host gives (ledger, policy, budget, events)
asking.py         asking policy and budget, telling watchers
performing.py     `perform` and `aperform`: the order in which the parts are asked
calls.py          a call of the platform as an effect
governing.py      the rules of a governed run, which the door asks first
current.py        `current_key()`, for a tool that has a receiver of its own

perform(effect, lambda: EffectResult(value=send(…)), door)   ->  EffectResult(value=…, status="done")
the same again, with a ledger                          ->  EffectResult(value=…, status="replayed")

Each name is imported on first use: reading stored runs must not load LangGraph, which performing does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.effects.asking import aadmit, admit
    from cinatra_sdk.effects.current import current_key
    from cinatra_sdk.effects.door import Door, EffectNews, Verdict
    from cinatra_sdk.effects.effect import Effect, EffectResult, Usage, key_at
    from cinatra_sdk.effects.failures import EffectFailure, read_failure
    from cinatra_sdk.effects.ledger import Begun, Differs, Entry, Ledger, Stored, Unknown
    from cinatra_sdk.effects.memory_ledger import MemoryLedger
    from cinatra_sdk.effects.performing import aperform, perform

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
    "aadmit": "asking",
    "admit": "asking",
    "current_key": "current",
    "Door": "door",
    "EffectNews": "door",
    "Verdict": "door",
    "Effect": "effect",
    "EffectResult": "effect",
    "Usage": "effect",
    "key_at": "effect",
    "EffectFailure": "failures",
    "read_failure": "failures",
    "Begun": "ledger",
    "Differs": "ledger",
    "Entry": "ledger",
    "Ledger": "ledger",
    "Stored": "ledger",
    "Unknown": "ledger",
    "MemoryLedger": "memory_ledger",
    "aperform": "performing",
    "perform": "performing",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.effects.{_LATER[name]}"), name)

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

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

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

_LATER: Final = {
    "aadmit": "outside.effects.permits",
    "admit": "outside.effects.permits",
    "current_key": "outside.effects.door",
    "Door": "outside.effects.door",
    "EffectNews": "outside.effects.door",
    "Verdict": "outside.effects.door",
    "Effect": "outside.effects.effect",
    "EffectResult": "outside.effects.effect",
    "Usage": "outside.effects.effect",
    "key_at": "outside.effects.effect",
    "EffectFailure": "outside.effects.effect",
    "read_failure": "outside.effects.effect",
    "Begun": "outside.effects.ledger",
    "Differs": "outside.effects.ledger",
    "Entry": "outside.effects.ledger",
    "Ledger": "outside.effects.ledger",
    "Stored": "outside.effects.ledger",
    "Unknown": "outside.effects.ledger",
    "MemoryLedger": "outside.effects.memory_ledgers",
    "aperform": "outside.effects.execution",
    "perform": "outside.effects.execution",
}

__all__ = [
    "aadmit",
    "admit",
    "current_key",
    "Door",
    "EffectNews",
    "Verdict",
    "Effect",
    "EffectResult",
    "Usage",
    "key_at",
    "EffectFailure",
    "read_failure",
    "Begun",
    "Differs",
    "Entry",
    "Ledger",
    "Stored",
    "Unknown",
    "MemoryLedger",
    "aperform",
    "perform",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

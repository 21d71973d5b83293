"""The one door for every effect of a node: calls, tools, questions to models go through `perform`.

effect.py          `Effect`, `EffectResult`, `Usage`; what an error says about an effect
door.py            `Door`: the ledger, policy, budget and watchers of a host; the `Ledger` protocol
execution.py       `perform` and `aperform`: the door's order of questions, then the call
permits.py         the questions to policy, budget and governed rules; the news for watchers
memory_ledgers.py  `MemoryLedger`, for tests and plain graphs
platform_calls.py  a call of the platform as an effect

perform(effect, lambda: EffectResult(value=send(…)), door)   ->  EffectResult(value=…, status="done")
the same again, with a ledger                          ->  EffectResult(value=…, status="replayed")

Each name is imported on first use: reading stored runs must not load LangGraph, which performing does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.effects.door import (
        Begun,
        Differs,
        Door,
        EffectNews,
        Entry,
        Ledger,
        Stored,
        Unknown,
        Verdict,
        current_key,
    )
    from cinatra_sdk.outside.effects.effect import (
        Effect,
        EffectFailure,
        EffectResult,
        Usage,
        key_at,
        read_failure,
    )
    from cinatra_sdk.outside.effects.execution import aperform, perform
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
    "Begun": "outside.effects.door",
    "Differs": "outside.effects.door",
    "Entry": "outside.effects.door",
    "Ledger": "outside.effects.door",
    "Stored": "outside.effects.door",
    "Unknown": "outside.effects.door",
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

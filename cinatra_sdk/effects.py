"""Effects: calls of nodes to the outside, which the host allows or refuses, and which a ledger stores.

    from cinatra_sdk.effects import Effect, EffectResult, MemoryLedger, Verdict, perform

The room behind it: `outside/effects/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

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
        TRANSIENT_ERRORS,
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
    "Effect": "outside.effects.effect",
    "EffectResult": "outside.effects.effect",
    "Usage": "outside.effects.effect",
    "key_at": "outside.effects.effect",
    "perform": "outside.effects.execution",
    "aperform": "outside.effects.execution",
    "admit": "outside.effects.permits",
    "aadmit": "outside.effects.permits",
    "current_key": "outside.effects.door",
    "Door": "outside.effects.door",
    "Verdict": "outside.effects.door",
    "EffectNews": "outside.effects.door",
    "Ledger": "outside.effects.door",
    "Entry": "outside.effects.door",
    "Begun": "outside.effects.door",
    "Stored": "outside.effects.door",
    "Unknown": "outside.effects.door",
    "Differs": "outside.effects.door",
    "MemoryLedger": "outside.effects.memory_ledgers",
    "EffectFailure": "outside.effects.effect",
    "read_failure": "outside.effects.effect",
    "TRANSIENT_ERRORS": "outside.effects.effect",
}

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
    "TRANSIENT_ERRORS",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

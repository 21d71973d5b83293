"""Effects: calls of nodes to the outside, which the host allows or refuses, and which a ledger stores.

    from cinatra_sdk.effects import Effect, EffectResult, MemoryLedger, Verdict, perform

The room behind it: `outside/effects/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.effects import (
        Begun,
        Differs,
        Door,
        Effect,
        EffectFailure,
        EffectNews,
        EffectResult,
        Entry,
        Ledger,
        MemoryLedger,
        Stored,
        Unknown,
        Usage,
        Verdict,
        aadmit,
        admit,
        aperform,
        current_key,
        key_at,
        perform,
        read_failure,
    )

_LATER: Final = {
    "Effect": "outside.effects",
    "EffectResult": "outside.effects",
    "Usage": "outside.effects",
    "key_at": "outside.effects",
    "perform": "outside.effects",
    "aperform": "outside.effects",
    "admit": "outside.effects",
    "aadmit": "outside.effects",
    "current_key": "outside.effects",
    "Door": "outside.effects",
    "Verdict": "outside.effects",
    "EffectNews": "outside.effects",
    "Ledger": "outside.effects",
    "Entry": "outside.effects",
    "Begun": "outside.effects",
    "Stored": "outside.effects",
    "Unknown": "outside.effects",
    "Differs": "outside.effects",
    "MemoryLedger": "outside.effects",
    "EffectFailure": "outside.effects",
    "read_failure": "outside.effects",
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
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

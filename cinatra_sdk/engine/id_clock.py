"""How far this process's clock is behind the clock of the process that made a checkpoint.

In: a checkpoint's id.  Out: seconds.

The engine orders the checkpoints of a thread by ids that each process makes from its own clock.  A
process with a slow clock writes checkpoints that sort before existing ones, so a reader of the
newest checkpoint does not find them: a rejection would be lost.
"""

from __future__ import annotations

import time
from typing import Final

from langgraph.checkpoint.base.id import UUID, uuid6

_TICKS: Final = 10_000_000
"""Ticks of an id's time in a second."""
_FIRST_TICK: Final = 0x01B21DD213814000
"""1970 in ticks since 1582, the beginning of an id's time (RFC 9562, version 6)."""


def seconds_behind(checkpoint: str) -> float:
    """Seconds until this process makes a later id; zero or less where its next id is later.

    An id that the engine did not make tells nothing about a clock: 0.
    """
    # Making an id to compare takes as long as the rest of the look; the clock alone says it mostly.
    if checkpoint[:18] < _earliest_id(time.time_ns() // 100):
        return 0.0
    if checkpoint < str(uuid6()):
        return 0.0
    try:
        made = UUID(checkpoint)
    except ValueError:
        return 0.0
    return (made.time - uuid6().time + 1) / _TICKS if made.version == 6 else 0.0


def _earliest_id(ticks: int) -> str:
    """How an id of this moment begins; `ticks` since 1970.  The engine makes none that is earlier."""
    since = ticks + _FIRST_TICK
    return f"{since >> 28:08x}-{since >> 12 & 0xFFFF:04x}-6{since & 0xFFF:03x}"

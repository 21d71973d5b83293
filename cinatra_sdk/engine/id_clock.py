"""Keeps the checkpoint ids that this process makes above those that are there already.

In: the id of a checkpoint that this process goes on from.  Out: later ids sort after it.

The engine orders the checkpoints of a thread by ids that each process makes from its own clock.  A
process with a slow clock would write checkpoints that sort before existing ones, so a reader of the
newest checkpoint would not find them: calls would be repeated, and a rejection lost.

The engine never makes an id that is not above its own last one (RFC 9562, version 6); that last one
is what is raised here, for the whole process.
"""

from __future__ import annotations

import time
from typing import Final

from langgraph.checkpoint.base import id as engine_ids
from langgraph.checkpoint.base.id import UUID, uuid6

from cinatra_sdk.errors import EngineUnsupported

_FIRST_TICK: Final = 0x01B21DD213814000
"""1970 in ticks of 100 ns since 1582, the beginning of an id's time."""
FURTHEST: Final = 100 * 366 * 86_400
"""Seconds by which an id may be ahead of this clock.

No clock is so wrong: such an id was forged.  Without a bound one row could use up the ids that sort
after it, for every run of the process.
"""


def move_ids_beyond(checkpoint: str) -> bool:
    """Make every later id of this process sort after `checkpoint`.

    False, with nothing changed, where the id is ahead by more than `FURTHEST`.  An id that the
    engine did not make tells nothing about a clock: True.

    Raises: `EngineUnsupported`.
    """
    now = time.time_ns() // 100
    if checkpoint[:18] < _earliest_id(now):
        return True
    try:
        made = UUID(checkpoint)
    except ValueError:
        return True
    if made.version != 6:
        return True
    if made.time - _FIRST_TICK - now > FURTHEST * 10_000_000:
        return False
    # Between the comparison and the assignment there is no call, here and in the engine, so no other
    # thread comes in between.
    last = engine_ids._last_v6_timestamp  # noqa: SLF001 - no public way; test_id_clock.py tells
    if last is None or last < made.time:
        engine_ids._last_v6_timestamp = made.time  # type: ignore[assignment]  # noqa: SLF001 - as above; None at first
    if str(uuid6()) <= checkpoint:
        raise EngineUnsupported(
            "this version of LangGraph does not take the ids of its checkpoints further",
            hint="set this machine's clock right, or install a version that this project supports",
        )
    return True


def _earliest_id(ticks: int) -> str:
    """How an id of this moment begins; `ticks` since 1970.  The engine makes none that is earlier."""
    since = ticks + _FIRST_TICK
    return f"{since >> 28:08x}-{since >> 12 & 0xFFFF:04x}-6{since & 0xFFF:03x}"

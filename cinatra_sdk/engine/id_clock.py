"""How far this process's clock is behind the clock of the process that made a checkpoint.

In: a checkpoint's id.  Out: seconds.

The engine orders the checkpoints of a thread by ids that each process makes from its own clock.  A
process with a slow clock writes checkpoints that sort before existing ones, so a reader of the
newest checkpoint does not find them: a rejection would be lost.
"""

from __future__ import annotations

from typing import Final

from langgraph.checkpoint.base.id import UUID, uuid6

_TICKS: Final = 10_000_000
"""Ticks of an id's time in a second."""


def seconds_behind(checkpoint: str) -> float:
    """Seconds until this process makes a later id; zero or less where its next id is later.

    An id that the engine did not make tells nothing about a clock: 0.
    """
    if checkpoint < str(uuid6()):
        return 0.0
    try:
        made = UUID(checkpoint)
    except ValueError:
        return 0.0
    return (made.time - uuid6().time + 1) / _TICKS if made.version == 6 else 0.0

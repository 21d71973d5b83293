"""How far this process's clock is behind the one that made a checkpoint.

In: a checkpoint's id.  Out: seconds.

The engine orders the checkpoints of a thread by ids that each process makes by its own clock.  What a
process writes whose clock is behind comes before what is there, and whoever reads the newest
checkpoint next does not find it: a rejection would be lost.
"""

from __future__ import annotations

from typing import Final

from langgraph.checkpoint.base.id import UUID, uuid6

_TICKS: Final = 10_000_000
"""Of an id's time, in a second."""


def seconds_behind(checkpoint: str) -> float:
    """Seconds until this process makes a later id; not positive where its next one is later.

    An id that the engine did not make says nothing of a clock: 0.
    """
    if checkpoint < str(uuid6()):
        return 0.0
    try:
        made = UUID(checkpoint)
    except ValueError:
        return 0.0
    return (made.time - uuid6().time + 1) / _TICKS if made.version == 6 else 0.0

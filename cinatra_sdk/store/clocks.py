"""An activation never begins with a clock behind the run's previous activation.

In: a run and the id of its newest checkpoint.  Out: nothing, once the ids that this process makes come after the newest checkpoint's
id (see `cinatra_sdk.engine.id_clock`).

A difference of a few seconds is waited for.  A larger difference is refused before the run is
touched, because otherwise the run would stand in a fork and stay there.
"""

from __future__ import annotations

import time
from typing import Final

from cinatra_sdk.engine.id_clock import seconds_behind
from cinatra_sdk.errors import StoreError

PATIENCE: Final = 5.0
"""Seconds that a clock may be behind; machines with a time server differ by less."""


def await_clock(run_id: str, newest: str) -> None:
    """Wait until this process's ids come after `newest`, the id of the run's newest checkpoint.

    Raises: `StoreError` if that takes too long.
    """
    behind = seconds_behind(newest)
    if behind > PATIENCE:
        raise StoreError(
            f"run '{run_id}' was last worked on by a process whose clock is {behind:,.0f} seconds "
            "ahead of this one's",
            hint="what was decided is kept: set the clock right and resume the run",
        )
    if behind > 0:
        time.sleep(behind)

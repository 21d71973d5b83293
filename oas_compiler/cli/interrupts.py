"""Ctrl-C while a node runs: the process ends at once, and the run is as after a crash.

A node may wait for minutes on a platform, and the engine waits for its nodes before it lets an
interrupt through.  Ending the process at once is safe: what was done is in the database, and
`oasflow resume` goes on from there, with the same idempotency key for a call that was cut off.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130


@contextlib.contextmanager
def ending_at_once(words: str, data: str = "") -> Iterator[None]:
    """Within, an interrupt writes `words` to stderr and `data` to stdout and ends the process."""

    def end(_number: int, _frame: FrameType | None) -> None:
        # Not through the streams: the interrupt may have come in the middle of a write to them.
        for descriptor, text in ((2, words), (1, data)):
            with contextlib.suppress(OSError):
                os.write(descriptor, text.encode(errors="backslashreplace"))
        os._exit(INTERRUPTED)

    sys.stdout.flush()
    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""Ctrl-C, while a node runs and while a person is asked.

While a node runs, Ctrl-C ends the process at once, and the run is as after a crash.  A node may
wait for minutes on a platform, and the engine delivers an interrupt only after its nodes have
finished. Ending the process at once is safe: the finished work is in the database, and `oasflow
resume` continues from there, with the same idempotency key for an interrupted call.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130


@contextlib.contextmanager
def ending_at_once(words: str, data: str = "") -> Iterator[None]:
    """Within, an interrupt writes `words` to stderr and `data` to stdout and ends the process."""

    def end(_number: int, _frame: FrameType | None) -> None:
        # Not through the streams, because the interrupt may have come in the middle of a write to
        # them.
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


def typed_line() -> str:
    """One line of the terminal with its end; without one at Ctrl-D.

    Python notices a signal before it begins to read, and when the system interrupts the read.  A
    signal between these moments (milliseconds, if other threads run) would be noticed only after
    the next line.  So this function waits for the terminal and for signals at once.

    Raises: `KeyboardInterrupt` for Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread() or not sys.stdin.isatty():
        return sys.stdin.readline()
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    try:
        # A terminal delivers line by line, so Python's buffer is empty.
        while sys.stdin.fileno() not in select.select([sys.stdin.fileno(), heard], [], [])[0]:
            os.read(heard, 64)  # another signal: Ctrl-C would have raised already
        return sys.stdin.readline()
    finally:
        signal.set_wakeup_fd(before)
        os.close(heard)
        os.close(tell)

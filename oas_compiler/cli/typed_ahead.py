"""Throws away what was typed at a terminal before a question stood on it.

In: stdin, at a terminal.  Out: whether something was thrown away.

    drop_typed_ahead(sys.stdin)  ->  True       # somebody typed `a`, Enter, while the command started

A key that answers a question must have been pressed by somebody who could read the question.  Called
after a question's content is written, and before its last line is.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator
from typing import Final, TextIO

QUIET: Final = 0.1
"""Seconds without a key after which nothing more is on its way: a kernel hands over a long paste piece
by piece, and a key that is held down comes back sooner.  Waited only where something was typed."""
_CHUNK: Final = 65536


def drop_typed_ahead(stream: TextIO, *, quiet: float = QUIET) -> bool:
    """Throw away what waits in the terminal behind `stream`, half a line too.

    quiet: seconds without a key that end it.

    Raises: `KeyboardInterrupt` for Ctrl-C while keys keep coming.
    """
    if sys.platform == "win32":
        return False
    import termios

    number, dropped = stream.fileno(), False
    with _key_by_key(number):
        # A terminal that is gone is ready for ever, and gives nothing.
        while select.select([number], [], [], quiet if dropped else 0)[0] and _has_keys(number):
            dropped = True
            with contextlib.suppress(termios.error):
                termios.tcflush(number, termios.TCIFLUSH)
    return dropped


def _has_keys(number: int) -> bool:
    try:
        return bool(os.read(number, _CHUNK))
    except OSError:
        return False


@contextlib.contextmanager
def _key_by_key(number: int) -> Iterator[None]:
    """Within, a line that nobody has ended yet can be read, and nothing is echoed."""
    import termios

    try:
        before = termios.tcgetattr(number)
    except termios.error:
        yield
        return
    within = [*before[:6], [*before[6]]]
    within[3] &= ~(termios.ICANON | termios.ECHO)
    within[6][termios.VMIN], within[6][termios.VTIME] = 0, 0
    with contextlib.suppress(termios.error):
        termios.tcsetattr(number, termios.TCSANOW, within)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(number, termios.TCSANOW, before)

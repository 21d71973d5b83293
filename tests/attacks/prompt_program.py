"""`oasflow`, held at a moment until somebody has typed, and with one door opened on purpose.

OASFLOW_TEST_HOLD   where it waits: `question 2` (before the second question throws typed keys away),
                    `moment 1` (just before prompt_toolkit reads keys), `call` (in the first call of
                    the simulated platform)
OASFLOW_TEST_OPEN   the defence that is missing: `terminal`, `read ahead`, `moment`, `second line`

    python -m tests.attacks.prompt_program EDITOR FILE      an editor, which writes once keys came
"""

from __future__ import annotations

import os
import select
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HELD = "[held]"
"""What stands on the screen while the program waits for a key."""
APART = "\n" * 20


def main() -> None:
    """Be oasflow."""
    import oas_compiler.cli
    from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
    from oas_compiler.cli.terminal import keyboard

    _open(keyboard, os.environ.get("OASFLOW_TEST_OPEN", ""))
    hold = os.environ.get("OASFLOW_TEST_HOLD", "")
    met: Counter[str] = Counter()
    ignore, call = keyboard.Keyboard.ignore_typed_ahead, SimulatedPlatform.call

    def held_question(self: Any, *, quiet: float = keyboard.QUIET) -> None:
        what = "question" if quiet else "moment"
        met[what] += 1
        if hold == f"{what} {met[what]}":
            wait_for_keys()
        ignore(self, quiet=quiet)

    def held_call(self: Any, *given: Any, **more: Any) -> Any:
        met["call"] += 1
        if hold == "call" and met["call"] == 1:
            wait_for_keys()
        return call(self, *given, **more)

    keyboard.Keyboard.ignore_typed_ahead = held_question  # type: ignore[method-assign]
    SimulatedPlatform.call = held_call  # type: ignore[method-assign]
    oas_compiler.cli.main()


def wait_for_keys() -> None:
    """Wait until a key has reached the terminal; nothing is read."""
    from oas_compiler.cli.terminal.keyboard import _key_by_key

    # Below everything, also where a line that a test has read is wiped out first.
    os.write(2, f"{APART}{HELD}\n".encode())
    with _key_by_key(0):
        select.select([0], [], [])


def _open(keyboard: Any, door: str) -> None:
    if door == "terminal":
        keyboard.drop_typed_ahead = lambda *_given, **_more: False
    elif door == "read ahead":
        keyboard._take_read_ahead = lambda: False
    elif door == "moment":
        drop = keyboard.drop_typed_ahead
        keyboard.drop_typed_ahead = lambda stream, *, quiet: (
            bool(quiet) and drop(stream, quiet=quiet)
        )
    elif door == "second line":
        keyboard.Keyboard._begin_question = lambda _self: None
        keyboard._take_read_ahead = lambda: False
    elif door:
        raise ValueError(f"there is no door {door!r}")


def show_or_edit() -> None:
    """A pager for text on stdin, or an editor of the file that is named."""
    name = sys.argv[-1]
    if not sys.stdin.isatty():
        sys.stdin.read()
        os.dup2(os.open("/dev/tty", os.O_RDONLY), 0)
    wait_for_keys()
    if name.endswith((".txt", ".json")):
        Path(name).write_text(os.environ["OASFLOW_TEST_EDITED"], "utf-8")


if __name__ == "__main__":
    show_or_edit()

"""A program at a pseudo terminal: what it shows is read, what a person types is written."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte

from tests.cli.oasflow_process import MAIN
from tests.warm import WarmProcess, may_be_warm, warm

PATIENCE = 60.0
ROWS = 4000
"""Of the screen that is read: nothing ever scrolls away."""


class _Cells(pyte.Screen):
    """The cells of a terminal, which knows what it broke itself: whoever copies that gets one line."""

    def __init__(self, columns: int, rows: int) -> None:
        self.broken: set[int] = set()
        """Rows that go on in the next one."""
        self._draws = False
        super().__init__(columns, rows)

    def draw(self, data: str) -> None:
        self._draws = True
        super().draw(data)
        self._draws = False

    def linefeed(self) -> None:
        if self._draws:
            self.broken.add(self.cursor.y)
        super().linefeed()


def _start(
    command: list[str], env: dict[str, str], slave: int, main: str
) -> subprocess.Popen[bytes] | WarmProcess:
    if Path(command[0]).name == "oasflow" and may_be_warm(env):
        return warm(main, command, env, terminal=slave)
    if main != MAIN:
        module, _, name = main.partition(":")
        call = f"import sys; from {module} import {name}; sys.argv[0] = 'oasflow'; {name}()"
        command = [sys.executable, "-c", call, *command[1:]]
    return subprocess.Popen(
        command,
        env=env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        # Only one system call happens between fork and exec, so threads do not matter.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
    )


class Screen:
    """Runs `command` with the terminal as stdin, stdout and stderr, and as its controlling one."""

    def __init__(
        self, command: list[str], env: dict[str, str], *, typed: bytes = b"", main: str = MAIN
    ) -> None:
        """Start the command.

        typed: keys that are pressed before it starts.
        main:  `module:function` that is the program, where it is not oasflow's own.
        """
        self._master, slave = pty.openpty()
        columns = int(env.get("COLUMNS", "100"))
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.keys(typed)
        given = {"TERM": "xterm-256color", "COLUMNS": "100", **env}
        self._process = _start(command, given, slave, main)
        os.close(slave)
        self.raw = ""
        """Everything that came, with control sequences."""
        self._cells = _Cells(columns, ROWS)
        self._stream = pyte.ByteStream(self._cells)
        self._seen = 0

    @property
    def text(self) -> str:
        """What stands on the screen, up to the cursor."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """The same line by line, without the blanks at the end; the last one ends at the cursor."""
        at, width = self._cells.cursor, range(self._cells.columns)
        found = [""]
        for y in range(at.y + 1):
            row = "".join(self._cells.buffer[y][x].data for x in width)
            found[-1] += row[: at.x] if y == at.y and not row[at.x :].strip() else row
            if y not in self._cells.broken and y < at.y:
                found[-1] = found[-1].rstrip()
                found.append("")
        return found

    def wait_for(self, words: str, *, patience: float = PATIENCE) -> str:
        """Read until `words` stand after the last ones waited for; what came in between.

        A line of the screen may end between two words.
        """
        deadline = time.monotonic() + patience
        pattern = re.compile("[ \n]".join(map(re.escape, words.split(" "))))
        while (found := pattern.search(self.text, self._seen)) is None:
            if not self._read(deadline):
                raise AssertionError(f"{words!r} never came; there is:\n{self.text}")
        at = found.end()
        before, self._seen = self.text[self._seen : at], at
        return before

    def asked(self) -> str | None:
        """Read until a question stands below what was read before; None where the program ends."""
        deadline = time.monotonic() + PATIENCE
        while True:
            new = self.text[self._seen :]
            if "\n" in new and new.endswith(("]: ", "): ", "words: ")):
                self._seen += len(new)
                return new.rstrip("\n").rpartition("\n\n")[2]
            if not self._read(deadline):
                assert time.monotonic() < deadline, f"nothing more came; there is:\n{self.text}"
                return None

    def type(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

    def keys(self, typed: bytes) -> None:
        """Press keys, as a terminal sends them; more of them than it takes at once are lost."""
        os.set_blocking(self._master, False)
        try:
            while typed:
                typed = typed[os.write(self._master, typed) :]
        except BlockingIOError:
            pass
        finally:
            os.set_blocking(self._master, True)

    def press(self, control: str) -> None:
        """`press("C")` is Ctrl-C."""
        os.write(self._master, bytes([ord(control) - 64]))

    def ended(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self._process.wait(timeout=PATIENCE)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._master)

    def _read(self, deadline: float) -> bool:
        """False at the end of the output, and when nothing comes any more."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            got = os.read(self._master, 65536)
        except OSError:  # Linux says EIO when the other side is closed
            return False
        self.raw += got.decode(errors="replace")
        self._stream.feed(got)
        return bool(got)

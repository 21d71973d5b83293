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
import termios
import time

PATIENCE = 60.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """Runs `command` with the terminal as stdin, stdout and stderr, and as its controlling one."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        columns = int(env.get("COLUMNS", "100"))
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._process = subprocess.Popen(
            command,
            env={"TERM": "xterm-256color", "COLUMNS": "100", **env},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # Only one system call happens between fork and exec, so threads do not matter.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)
        self.raw = ""
        """Everything that came, with control sequences."""
        self._seen = 0

    @property
    def text(self) -> str:
        """Everything that came, as words."""
        return _ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def wait_for(self, words: str, *, patience: float = PATIENCE) -> str:
        """Read until `words` appear after the last ones waited for; what came in between."""
        deadline = time.monotonic() + patience
        while words not in self.text[self._seen :]:
            if not self._read(deadline):
                raise AssertionError(f"{words!r} never came; there is:\n{self.text}")
        at = self.text.index(words, self._seen) + len(words)
        before, self._seen = self.text[self._seen : at], at
        return before

    def type(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

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
        return bool(got)

"""A child process in a group of its own, whose id belongs to nobody else until it is reaped.

    child = Child(["mcp-files"], env={}, folder=None)
    child.signal_all(SIGKILL)      reaches what it has started, also after its own end
    child.reap()

The processes of an event loop are reaped as soon as they end.  From then on the id of their group may be
that of a stranger, so what they have left behind could not be ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

_CHUNK_BYTES: Final = 65_536


class Child:
    """Its input, its output, and its end.

    Raises: `OSError` where it cannot be started.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], folder: str | None
    ) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the command is what the file names, and no shell reads it
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=env,
            cwd=folder,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stdin = Pipe(os.dup(self._process.stdin.fileno()))
        self.stdout = Pipe(os.dup(self._process.stdout.fileno()))
        self._process.stdin.close()
        self._process.stdout.close()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended; it is not reaped by that."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._end_and_reap()
        try:
            look = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._process.pid, look) is not None
        except ChildProcessError:  # the host reaps all that ends
            self._process.poll()
            return True

    def signal_all(self, number: int) -> None:
        """Signals it and all of its group; nobody once it was reaped."""
        self.has_ended  # noqa: B018 - finds out whether somebody else has reaped it
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _end_and_reap(self) -> bool:
        """Where an end is only seen by reaping, its group is ended in the same moment."""
        if self._process.poll() is None:
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return True

    def reap(self) -> None:
        """Gives its id back, where it has ended."""
        self._process.poll()


class Pipe:
    """One end of a pipe, for one task at a time."""

    def __init__(self, number: int) -> None:
        self._number, self._closed = number, False
        self._waiting: tuple[Any, Any] | None = None
        """The scope of who waits for it, and the event of its end."""
        os.set_blocking(number, False)

    async def receive(self) -> bytes:
        """What has come.  Raises: `anyio.EndOfStream`, `anyio.ClosedResourceError`, `OSError`."""
        import anyio
        import anyio.lowlevel

        while True:
            self._require_open()
            try:
                chunk = os.read(self._number, _CHUNK_BYTES)
            except BlockingIOError:
                await self._wait(anyio.wait_readable)
                continue
            if not chunk:
                raise anyio.EndOfStream
            await anyio.lowlevel.checkpoint()
            return chunk

    async def send(self, data: bytes) -> None:
        """Raises: `anyio.ClosedResourceError`, `OSError`."""
        import anyio

        rest = memoryview(data)
        while rest:
            self._require_open()
            try:
                rest = rest[os.write(self._number, rest) :]
            except BlockingIOError:
                await self._wait(anyio.wait_writable)

    async def aclose(self) -> None:
        """Whoever waits for it is told that it is closed."""
        if self._closed:
            return
        self._closed = True
        if self._waiting is not None:
            # Until it has stopped, the loop looks at the number, which may soon be another file's.
            scope, stopped = self._waiting
            scope.cancel()
            await stopped.wait()
        os.close(self._number)

    async def _wait(self, ready: Callable[[int], Awaitable[None]]) -> None:
        import anyio

        stopped = anyio.Event()
        with anyio.CancelScope() as scope:
            self._waiting = (scope, stopped)
            try:
                await ready(self._number)
            finally:
                self._waiting = None
                stopped.set()

    def _require_open(self) -> None:
        import anyio

        if self._closed:
            raise anyio.ClosedResourceError

"""A child process in a group of its own, and the MCP server that such a process runs.

    child = Child(["mcp-files"], env={}, folder=None)
    child.signal_all(SIGKILL)      reaches all that the child has started, also after the child's own end
    child.reap()

The processes of an event loop are reaped as soon as they end.  From then on the id of their group may
belong to a stranger, so whatever they left behind could not be ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from cinatra_sdk.outside.mcp.server import McpServer
from cinatra_sdk.outside.remote_answers.foreign_answer import (
    BrokenOff,
    is_foreign,
    is_json,
    judge_answer,
)
from cinatra_sdk.outside.remote_answers.transport import Exchange

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


# ----------------------------------------------------------------------------
# An MCP server that is a program of this machine, asked over its standard input and output.
#
#     async with run_program(server, exchange) as (reading, writing):
#
# The bytes that the program writes are bounded, as a whole and so line by line; its standard error goes
# nowhere.  The end of the connection ends the program and all that the program has started.


END_SECONDS: Final = 2.0
"""Given to a program to end by itself when its input ends, and again when it is told to."""
_LOOK_SECONDS: Final = 0.01


@asynccontextmanager
async def run_program(server: McpServer, exchange: Exchange) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages that `mcp.Client` takes.

    Raises: `OSError` where the program cannot be started.
    """
    import anyio

    process = _start_process(server)
    heard, reading = anyio.create_memory_object_stream[Any](0)
    writing, said = anyio.create_memory_object_stream[Any](0)
    program = _Program(process, exchange)
    async with anyio.create_task_group() as group:
        group.start_soon(program.read, heard)
        group.start_soon(program.write, said, heard)
        try:
            yield reading, writing
        finally:
            # Also where whoever waits is cancelled: a program that is left would run for ever.
            with anyio.CancelScope(shield=True):
                reading.close()
                writing.close()
                await program.end()
            group.cancel_scope.cancel()


def _start_process(server: McpServer) -> Child:
    """In a group of its own, with the variables of the file and the few that every process needs."""
    from mcp.client.stdio import get_default_environment

    return Child(
        [server.command, *server.args],
        env={**get_default_environment(), **server.env},
        folder=server.cwd or None,
    )


class _Program:
    """The process, and the messages to it and from it."""

    def __init__(self, process: Child, exchange: Exchange) -> None:
        self._process, self._exchange = process, exchange
        self._is_silent = False

    async def read(self, heard: Any) -> None:
        """Its lines, as messages; what no message can be made of is left out, as noise of a program."""
        import anyio

        size, rest = 0, bytearray()
        with suppress(
            anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError
        ):
            async with heard:
                while not self._exchange.broken:
                    chunk = await self._process.stdout.receive()
                    size += len(chunk)
                    await self._take(heard, rest, chunk, size)
        with suppress(
            anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError
        ):
            while True:  # it may not be able to end before it has written everything
                await self._process.stdout.receive()
        self._is_silent = True

    async def _take(self, heard: Any, rest: bytearray, chunk: bytes, size: int) -> None:
        with suppress(BrokenOff):
            self._exchange.require_size(size)
            *ends, last = chunk.split(b"\n")
            for end in ends:
                line, rest[:] = bytes(rest) + end, b""
                message = self._understand(line)
                if message is not None:
                    await heard.send(message)
            rest += last

    def _understand(self, line: bytes) -> Any:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        if not line.strip() or not is_json(line):
            return None
        try:
            value = judge_answer(line, None)
            self._exchange.require_values(line, value)
        except BrokenOff as problem:
            self._exchange.break_off(str(problem))
        says_id = isinstance(value, dict) and value.get("id") is not None
        if says_id and is_foreign(value, self._exchange.asked):
            return None  # the right one may still come
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            several = value if isinstance(value, list) else [value]
            if any(isinstance(one, dict) and {"result", "error"} & set(one) for one in several):
                self._exchange.break_off("what it answered is no answer of the protocol")
            return None

    async def write(self, said: Any, heard: Any) -> None:
        import anyio

        try:
            async with said:
                async for one in said:
                    if hasattr(one.message, "method"):
                        asked = getattr(one.message, "id", None)
                        if asked is not None:
                            self._exchange.expect_answer(asked)
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(text.encode() + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            await heard.aclose()

    async def end(self) -> None:
        """Its input ends, then it is told to end, then it is ended, with all that it has started."""
        await self._process.stdin.aclose()
        if not await self._has_ended():
            self._process.signal_all(signal.SIGTERM)
            await self._has_ended()
        if self._process.has_ended:
            await self._falls_silent()
        # Also where it ended by itself: what it has started may hold nothing of it, and run on.
        self._process.signal_all(signal.SIGKILL)
        await self._has_ended()
        self._process.reap()
        await self._process.stdout.aclose()

    async def _has_ended(self) -> bool:
        return await self._waits_for(lambda: self._process.has_ended, END_SECONDS)

    async def _falls_silent(self) -> bool:
        """Whether nobody holds its output any more: a program that it has started may."""
        return await self._waits_for(lambda: self._is_silent, 20 * _LOOK_SECONDS)

    async def _waits_for(self, look: Any, seconds: float) -> bool:
        import anyio

        until = anyio.current_time() + seconds
        while not look():
            if anyio.current_time() >= until:
                return False
            await anyio.sleep(_LOOK_SECONDS)
        return True

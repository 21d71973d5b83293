"""Processes forked from one that has imported the product: a start takes milliseconds, not seconds.

    begin(target, program, arguments, env)            ->  WarmProcess; Popen where only that will do
    warm("oas_compiler.cli:main", ["oasflow", "gates"], env, terminal=slave)    ->  at that terminal

Everything else is as with a program that is started: an id, signals, pipes or a terminal, variables,
a folder and an exit code of its own.  What only a new interpreter can show (what it imports, how it
reads variables of Python's) is tested with one; with `./scripts/test --long` all of them are new.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import fcntl
import importlib
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import termios
import threading
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias

from tests.effort import tries

ROOT = Path(__file__).resolve().parents[1]
READ_AT_START = ("PYTHON", "TZ", "LC_", "LANG", "TYPER", "_TYPER", "TERMINAL_WIDTH", "FORCE_COLOR")
"""Beginnings of the names of variables that are read before a program's own first line, or while
it imports its modules."""

OBEYED = frozenset({"PYTHONFAULTHANDLER"})
"""Those among them that a forked process obeys as a started one does."""

IMPORTED_LATE = ("jsonschema_specifications", "prompt_toolkit")
"""What the product imports only where it is needed, and what takes as long as the rest of a command."""

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(
    [
        __name__,  # for `_become`
        *IMPORTED_LATE,
        *sorted(
            ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for package in ("cinatra_sdk", "oas_compiler")
            for file in (ROOT / package).rglob("*.py")
            if file.name != "__main__.py"
        ),
    ]
)


def read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
    """Those of the variables that only a new interpreter reads."""
    return {
        name: value
        for name, value in variables.items()
        if name.startswith(READ_AT_START) and name not in OBEYED
    }


def may_be_warm(env: Mapping[str, str]) -> bool:
    """Whether a process with these variables is the same, forked or started."""
    return tries(1, 0) == 1 and read_at_start(env) == read_at_start(os.environ)


@dataclass(frozen=True)
class _Handed:
    """A file descriptor that goes to the process with its arguments."""

    number: int

    def __reduce__(self) -> Any:
        return _taken, (DupFd(self.number),)


def _taken(handed: Any) -> int:
    number: int = handed.detach()
    return number


class WarmProcess:
    """What a test uses of `subprocess.Popen(…, text=True)`, with all of its pipes."""

    def __init__(self, process: BaseProcess, pipes: Sequence[int]) -> None:
        self._process = process
        self.pid = process.pid or 0
        self.stdin, self.stdout, self.stderr = _opened(pipes)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        # It may have ended, and been taken note of by the one that forked it, meanwhile.
        with contextlib.suppress(ProcessLookupError):
            if self.poll() is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: str = "", timeout: float | None = None) -> tuple[str, str]:
        """Write all, read all, wait for the end."""
        with ThreadPoolExecutor(2) as readers:
            streams = [stream for stream in (self.stdout, self.stderr) if stream is not None]
            texts = [readers.submit(_read_all, stream) for stream in streams]
            _write_all(self.stdin, given)
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        out, err = (text.result() for text in texts)
        return out, err

    def close(self) -> None:
        """End it, if it runs, and let go of its pipes."""
        self.kill()
        self._process.join()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                _close(stream)


Process: TypeAlias = subprocess.Popen[str] | WarmProcess


def _opened(pipes: Sequence[int]) -> tuple[IO[str] | None, IO[str] | None, IO[str] | None]:
    if not pipes:
        return None, None, None
    into, out, err = pipes
    return (
        open(into, "w", encoding="utf-8"),  # noqa: PTH123 - of a number, closed by `close`
        open(out, encoding="utf-8"),  # noqa: PTH123
        open(err, encoding="utf-8"),  # noqa: PTH123
    )


def _read_all(stream: IO[str]) -> str:
    if stream.closed:
        return ""
    with stream:
        return stream.read()


def _write_all(stream: IO[str] | None, given: str) -> None:
    """Write and close; a reader that went away misses nothing."""
    if stream is not None and not stream.closed:
        with contextlib.suppress(BrokenPipeError):
            stream.write(given)
        _close(stream)


def _close(stream: IO[str]) -> None:
    with contextlib.suppress(BrokenPipeError):
        stream.close()


def begin(
    target: str, program: Sequence[str], arguments: Sequence[str], env: Mapping[str, str]
) -> Process:
    """Begin `program` with all its pipes: `target`, already imported, where that is the same."""
    if may_be_warm(env):
        return warm(target, [program[-1], *arguments], env)
    return start(target, program, arguments, env)


def start(
    _target: str, program: Sequence[str], arguments: Sequence[str], env: Mapping[str, str]
) -> subprocess.Popen[str]:
    """The same in a new interpreter, in any case."""
    return subprocess.Popen(
        [*program, *arguments], env=dict(env), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def warm(
    target: str,
    arguments: Sequence[str],
    env: Mapping[str, str],
    *,
    terminal: int | None = None,
) -> WarmProcess:
    """Call `module:function` in a forked process.

    arguments: its `sys.argv`, with the name of the program.
    terminal:  the descriptor of one that becomes its stdin, stdout, stderr and controlling terminal;
               without one they are pipes.
    """
    ours: list[int] = []
    theirs = [terminal] * 3 if terminal is not None else []
    if terminal is None:
        (read_in, write_in), (read_out, write_out), (read_err, write_err) = (
            os.pipe() for _ in range(3)
        )
        ours, theirs = [write_in, read_out, read_err], [read_in, write_out, write_err]
    process = FORKED.Process(
        target=_become,
        args=(
            target, list(arguments), dict(env), str(Path.cwd()),
            [_Handed(number) for number in theirs], terminal is not None,
        ),
    )  # fmt: skip
    process.daemon = True  # a process that nobody ends does not keep the tests from ending
    try:
        process.start()
    finally:
        for number in theirs if terminal is None else ():
            os.close(number)
    return WarmProcess(process, ours)


def _become(
    target: str,
    argv: list[str],
    env: dict[str, str],
    folder: str,
    streams: list[int],
    terminal: bool,
) -> NoReturn:
    """Be the program: its streams, variables and folder, and its end."""
    if terminal:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv = argv
    _open_streams()
    if env.get("PYTHONFAULTHANDLER"):
        faulthandler.enable(2)
    module, _, name = target.partition(":")
    code = 1
    try:
        getattr(importlib.import_module(module), name)()
        code = 0
    except SystemExit as ended:
        code = _code_of(ended)
    except BaseException:
        traceback.print_exc()
    _end(code)


def _open_streams() -> None:
    """As the interpreter opens them when it starts."""

    def text(number: int, mode: str, **more: Any) -> io.TextIOWrapper:
        return io.TextIOWrapper(open(number, mode, closefd=False), encoding="utf-8", **more)

    sys.stdin = sys.__stdin__ = text(0, "rb")
    sys.stdout = sys.__stdout__ = text(1, "wb", line_buffering=os.isatty(1))
    sys.stderr = sys.__stderr__ = text(2, "wb", errors="backslashreplace", line_buffering=True)


def _code_of(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    if isinstance(ended.code, int):
        return ended.code & 0xFF
    print(ended.code, file=sys.stderr)
    return 1


def _end(code: int) -> NoReturn:
    """As the interpreter ends: the threads, what was to be done at exit, the streams."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120
    os._exit(code)

"""`oasflow` as a real process: forked from a warm one, or started where that shows more."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.warm import Process, begin, start

MAIN = "oas_compiler.cli:main"

PATIENCE = 120.0
"""Seconds after which a test gives a process up; a process that hangs is a failure."""


@dataclass(frozen=True)
class Ended:
    """What a process said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def finish(process: Process, stdin: str | None = None) -> tuple[str, str]:
    """What the process says until it ends; one that hangs has to say where it stands."""
    try:
        return process.communicate(stdin, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        _, err = process.communicate()
    raise AssertionError(f"the process did not end:\n{err}")


@dataclass(frozen=True)
class Oasflow:
    program: Path
    env: dict[str, str]
    starts: bool = False
    """Start a new interpreter for every command: what is tested is how the program starts."""
    begun: list[Process] = field(default_factory=list)

    def __call__(self, *arguments: str, stdin: str | None = None, **env: str) -> Ended:
        """Run a command to its end, without a terminal."""
        process = self._start(arguments, env)
        out, err = finish(process, stdin or "")
        assert "Traceback" not in err, err
        assert process.returncode is not None
        return Ended(process.returncode, out, err)

    def begin(self, *arguments: str, **env: str) -> Process:
        """Begin a command, which has nothing to read, and leave it running."""
        process = self._start(arguments, env)
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        return process

    def _start(self, arguments: tuple[str, ...], more: Mapping[str, str]) -> Process:
        how = start if self.starts else begin
        env = {**self.env, "PYTHONFAULTHANDLER": "1", **more}
        process = how(MAIN, [str(self.program)], arguments, env)
        self.begun.append(process)
        return process

    def close(self) -> None:
        """End what was left running."""
        for process in self.begun:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

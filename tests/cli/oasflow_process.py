"""`oasflow` as a real process."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Oasflow:
    program: Path
    env: dict[str, str]
    begun: list[subprocess.Popen[str]] = field(default_factory=list)

    def __call__(self, *arguments: str, stdin: str | None = None, **env: str) -> Ended:
        """Run a command to its end, without a terminal."""
        done = subprocess.run(
            [str(self.program), *arguments],
            env={**self.env, **env},
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)

    def begin(self, *arguments: str, **env: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        process = subprocess.Popen(
            [str(self.program), *arguments],
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.begun.append(process)
        return process

    def close(self) -> None:
        """End what was left running."""
        for process in self.begun:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

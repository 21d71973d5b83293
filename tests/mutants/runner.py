"""Keeps one worker: asks it, and says what happened when it does not answer.

    with Runner() as runner:
        runner.ask({"seed": 7, "number": 42})   ->   Answer(problems=(), kind="json rename", …)

A worker that dies or stays silent costs that mutant a problem; the next one gets a new worker.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from tests.mutants.mutations import Mutant
from tests.mutants.seeds import ROOT

SECONDS: Final = 2.0
"""Processor time that `check` may take for one mutant."""
MEMORY: Final = 256 * 1024 * 1024
"""Bytes by which one `check` may make the process grow."""
SILENCE: Final = 60.0
"""Seconds without an answer until a worker counts as stuck."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a worker says about one mutant."""

    problems: tuple[str, ...]
    kind: str = "given"
    seed: str = "given"
    codes: tuple[str, ...] = ()
    read: bool = False
    seconds: float = 0.0
    grown: int = 0
    """Bytes."""


class Runner:
    """One worker, started when it is first asked."""

    def __init__(
        self,
        *,
        check: str = "oas_compiler:check",
        seconds: float = SECONDS,
        memory: int = MEMORY,
        silence: float = SILENCE,
        times: float = 0.0,
    ) -> None:
        """`times`: a document may take so many times as long as a plain one, if that is more."""
        self._command = [
            sys.executable, "-W", "error", "-m", "tests.mutants.worker",
            f"--check={check}", f"--seconds={seconds}", f"--memory={memory}",
            f"--times={times}",
        ]  # fmt: skip
        self._silence = silence
        self._worker: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        self._end()

    def mutant(self, seed: int, number: int, *, thorough: bool = True) -> Answer:
        """The mutant of this number, which the worker makes by itself."""
        return self._ask({"seed": seed, "number": number, "thorough": thorough})

    def given(self, made: Mutant) -> Answer:
        """A mutant that is at hand."""
        files = {name: base64.b64encode(raw).decode() for name, raw in made.files.items()}
        return self._ask({"files": files, "given": made.given})

    def _ask(self, request: dict[str, Any]) -> Answer:
        worker = self._worker or self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(json.dumps(request).encode() + b"\n")
            worker.stdin.flush()
        except BrokenPipeError:
            return self._lost("the worker died")
        if not select.select([worker.stdout], [], [], self._silence)[0]:
            return self._lost("the worker is stuck")
        line = worker.stdout.readline()
        if not line.endswith(b"\n"):
            return self._lost("the worker died")
        answer = json.loads(line)
        lists = {name: tuple(answer[name]) for name in ("problems", "codes")}
        return Answer(**{**answer, **lists})

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        self._worker = subprocess.Popen(
            self._command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._worker.stdout is not None
        if self._worker.stdout.readline() != b"\n":
            raise RuntimeError(f"no worker starts: {' '.join(self._command)}")
        return self._worker

    def _lost(self, what: str) -> Answer:
        code = self._end()
        return Answer(problems=(f"{what} | exit code {code}",))

    def _end(self) -> int:
        worker, self._worker = self._worker, None
        if worker is None:
            return 0
        worker.kill()
        code = worker.wait()
        for stream in (worker.stdin, worker.stdout):
            if stream is not None:
                stream.close()
        return code

"""The child process that judges: one request per line in, one verdict per line out.

    {"seed": 7, "number": 42}                   ->  {"kind": "json rename", "problems": [], …}
    {"files": {"oas.json": "eyJ9"}, "given": "bytes"}   (base64)  ->  the same of a mutant of its own

A timer ends a `check` that takes more processor time than it may, or sleeps; a limit of the
address space ends one that takes memory without end.  Both show as a problem of that mutant.
What sits inside one call of C code cannot be ended from here: the runner ends the process.
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import gc
import json
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Final

from oas_compiler import Diagnostics
from tests.mutants.judge import Check, Verdict, judge
from tests.mutants.mutations import Mutant, mutant
from tests.mutants.seeds import seeds

SLEEPING: Final = 15.0
"""Times the limit, by the wall clock: shared machines stop a process for a while."""
_UNIT: Final = 1 if sys.platform == "darwin" else 1024


class OverTime(BaseException):
    """`check` took longer than it may; no `except Exception` holds it."""


def main() -> None:
    asked = _parser().parse_args()
    module, _, name = asked.check.partition(":")
    check: Check = getattr(import_module(module), name)
    seconds = max(asked.seconds, asked.times * _measure_plain_check(check) if asked.times else 0)
    limits = Limits(seconds=seconds, memory=asked.memory)
    with tempfile.TemporaryDirectory(prefix="oasflow-mutant-") as folder:
        bench = Bench(check=check, limits=limits, folder=Path(folder) / "agent")
        bench.warm_up()
        print(flush=True)  # an empty line: ready
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps(bench.answer(request)), flush=True)


def _measure_plain_check(check: Check) -> float:
    """Processor time for a large and harmless document: how fast this machine is just now."""
    raw = json.dumps({"component_type": "Flow", "metadata": {"list": [[0]] * 15_000}}).encode()
    taken = []
    for _ in range(3):
        start = time.process_time()
        check(raw)
        taken.append(time.process_time() - start)
    return min(taken)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", default="oas_compiler:check")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--times", type=float, default=0.0, help="of a plain check, if longer")
    parser.add_argument("--memory", type=int, default=256 * 1024 * 1024)
    return parser


class Limits:
    """Processor time and memory of one call."""

    def __init__(self, *, seconds: float, memory: int) -> None:
        self.seconds = seconds
        self.memory = memory
        self.ran_out = False
        """Whether the last call was interrupted, also where it went on in spite of it."""
        signal.signal(signal.SIGPROF, self._over_time)
        signal.signal(signal.SIGALRM, self._over_time)

    def __enter__(self) -> None:
        self.ran_out = False
        # again every tenth of a second: a finalizer may swallow the first one
        signal.setitimer(signal.ITIMER_PROF, self.seconds, 0.1)
        signal.setitimer(signal.ITIMER_REAL, self.seconds * SLEEPING, 0.1)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def bound_the_address_space(self) -> None:
        """Three times what may be used stops even an allocation that would end the machine."""
        if sys.platform == "linux":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (used + 3 * self.memory, hard))

    def _over_time(self, _signal: int, _frame: FrameType | None) -> None:
        self.ran_out = True
        raise OverTime


class Bench:
    """Judges one mutant after the other."""

    def __init__(self, *, check: Check, limits: Limits, folder: Path) -> None:
        self._check = check
        self._limits = limits
        self._folder = folder
        self._seconds, self._grown = 0.0, 0

    def warm_up(self) -> None:
        """What is imported late is imported now, and charged to no mutant."""
        for seed in seeds()[::7]:
            made = Mutant(kind="none", seed=seed.name, files=seed.files, given=seed.given)
            judge(made, import_module("oas_compiler").check, self._folder)
        self._limits.bound_the_address_space()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        made = _made(request)
        self._seconds, self._grown = 0.0, 0
        try:
            thorough = request.get("thorough", True)
            verdict = judge(made, self._limited, self._folder, thorough=thorough)
        except OverTime:
            verdict = Verdict()
        return {
            "kind": made.kind,
            "seed": made.seed,
            "problems": [*verdict.problems, *self._over_the_limits()],
            "codes": verdict.codes,
            "read": verdict.read,
            "seconds": self._seconds,
            "grown": self._grown,
        }

    def _limited(self, source: Any) -> Diagnostics:
        """`check`, under the limits; the judge's own work is not measured."""
        gc.collect()
        floor, start = _forget_peak(), time.process_time()
        try:
            with self._limits:
                return self._check(source)
        finally:
            self._seconds = time.process_time() - start
            self._grown = max(0, _peak() - floor)

    def _over_the_limits(self) -> Iterator[str]:
        if self._limits.ran_out or self._seconds >= self._limits.seconds:
            yield f"takes too long | {self._seconds:.1f} s of processor time"
        if self._grown > self._limits.memory:
            yield f"takes too much memory | {self._grown >> 20} MiB"


def _forget_peak() -> int:
    """Bytes of memory before a measurement; Linux forgets the peak of what was before.

    Elsewhere only what goes beyond every earlier peak is seen.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what was freed is no reserve for the next one
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The most memory that this process ever had, in bytes.

    On Linux not `ru_maxrss`: that begins with the peak of the process that started this one.
    """
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _made(request: dict[str, Any]) -> Mutant:
    if "files" in request:
        files = {name: base64.b64decode(raw) for name, raw in request["files"].items()}
        return Mutant(kind="given", seed="given", files=files, given=request["given"])
    return mutant(request["seed"], request["number"])


if __name__ == "__main__":
    main()

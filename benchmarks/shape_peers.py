"""Other runtimes that take turns with ours: each in a process, and an environment, of its own.

with open_peers(pythons, "postgres", rows) as peers:
    peers["adapter"].load(document, {"xs": ["1"]}, "ys")     ""; else why it refuses the file
    peers["adapter"].run()                                   (0.013, ["about 1"])
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from psycopg.conninfo import make_conninfo

from benchmarks.peer import interpreter
from cinatra_sdk.postgres.connection import Rows

PACKAGES: Final = {
    "adapter": (
        "pyagentspec[langgraph]==26.3.1", "langgraph-checkpoint-postgres", "psycopg[binary]",
    ),
    "wayflow": ("wayflowcore==26.3.1",),
}  # fmt: skip
_KEEPS: Final = ("adapter",)
"""Which of them keep checkpoints."""
_PROGRAM: Final = Path(__file__).parent / "differential" / "peer_runs.py"
_SCHEMA: Final = "peer"
LIMIT: Final = 5_000
"""Supersteps that a run of the adapter may take."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One other runtime, in its process."""

    process: subprocess.Popen[str]

    def load(self, document: Any, inputs: Any, output: str) -> str:
        """Make it load a file; why it does not, empty where it does."""
        asked = {"flow": document, "inputs": inputs, "output": output, "limit": LIMIT}
        return str(self._ask(asked).get("refused", ""))

    def run(self) -> tuple[float, Any] | str:
        """Seconds and output of one run, or the kind of the error that it ended with."""
        said = self._ask("run")
        return str(said["failed"]) if "failed" in said else (said["seconds"], said["end"])

    def _ask(self, asked: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said


@contextmanager
def find_interpreters(
    names: Iterable[str], given: Mapping[str, str | None]
) -> Iterator[dict[str, Path]]:
    """Peer → its interpreter: a given one, or of a new environment; without those that cannot be had."""
    with ExitStack() as stack:
        found = {}
        for name in names:
            python = stack.enter_context(interpreter(given[name] or "", PACKAGES[name]))
            if isinstance(python, Path):
                found[name] = python
            else:
                print(f"{name}: {python}")
        yield found


@contextmanager
def open_peers(
    pythons: Mapping[str, Path], where: str, rows: Rows | None
) -> Iterator[dict[str, Peer]]:
    """The peers that can keep checkpoints there; rows: the database, where it is one."""
    dsn = "" if rows is None else _make_schema(rows)
    with ExitStack() as stack:
        peers = {}
        for name, python in pythons.items():
            if where == "none" or name in _KEEPS:
                command = [str(python), str(_PROGRAM), name, where, dsn]
                peers[name] = Peer(stack.enter_context(_run_beside(command)))
        yield peers


def _make_schema(rows: Rows) -> str:
    """Address of a schema of their own: their tables may be of another version."""
    rows.execute(f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE")
    rows.execute(f"CREATE SCHEMA {_SCHEMA}")
    options = f"-csearch_path={_SCHEMA}"
    return make_conninfo(rows.info.dsn, password=rows.info.password, options=options)


@contextmanager
def _run_beside(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=30)

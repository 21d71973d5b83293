"""One change in a copy of the tree, its tests in a forked process, the outcome.

    place = Place.make()                 # a copy of the tree, and a Postgres
    running = begin(place, change, tests)
    running.outcome()                    # None as long as it runs

The process that forks has imported the product and pytest; the child puts the change into the
functions that it finds (`swap`).  Where that cannot be done it imports the product anew from the copy,
as every process does that a test starts.  The tree itself is never written to.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, NoReturn

import psycopg
import pytest
from psycopg import sql

from tests.code_mutants.operators import Change
from tests.code_mutants.rooms import ROOT
from tests.code_mutants.swap import find_functions, import_product, put_in

Ending = Literal["caught", "alive", "too long", "no test"]
Test = tuple[str, str]
"""A file of tests and the name within it."""

LEAVE_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".tmp", ".*_cache", ".hypothesis", ".langgraph_api"
)
LEAST_SECONDS = 60.0
"""A change that makes a test wait for ever is caught after this, and a machine may be loaded."""
PRELOADED = ("hypothesis", "langgraph.checkpoint.memory", "uvicorn")
"""What tests import besides."""
PACKAGES = ("cinatra_sdk", "oas_compiler", "graphs")
_functions: dict[str, Sequence[FunctionType]] = {}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    ending: Ending
    by: str = ""
    """The test that failed."""
    seconds: float = 0.0
    tests: int = 0


@dataclass(kw_only=True)
class Place:
    """Where one trial at a time happens."""

    folder: Path
    server: subprocess.Popen[str]
    addresses: list[str]
    """Of the superuser, of the role with rows, of the owner."""
    trials: int = 0

    @classmethod
    def make(cls) -> Place:
        folder = Path(tempfile.mkdtemp(prefix="oasflow-mutants-")) / "tree"
        shutil.copytree(ROOT, folder, ignore=LEAVE_OUT, symlinks=True)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.code_mutants.server"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert server.stdout is not None
        return cls(folder=folder, server=server, addresses=json.loads(server.stdout.readline()))

    def tidy(self) -> None:
        """Drop the databases that the last trial left."""
        with psycopg.connect(self.addresses[0], autocommit=True) as connection:
            left = connection.execute("select datname from pg_database where datname like 't\\_%'")
            for (name,) in left.fetchall():
                statement = sql.SQL("drop database if exists {} with (force)")
                connection.execute(statement.format(sql.Identifier(name)))

    def close(self) -> None:
        self.server.communicate()
        shutil.rmtree(self.folder.parent, ignore_errors=True)


@dataclass(kw_only=True)
class Running:
    """A trial that has begun."""

    place: Place
    change: Change | None
    tests: Sequence[Test]
    child: int
    until: float
    begun: float = field(default_factory=time.monotonic)

    def outcome(self) -> Outcome | None:
        """What it came to; None as long as it runs."""
        ended, status = os.waitpid(self.child, os.WNOHANG)
        late = time.monotonic() > self.until
        if not ended and not late:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGKILL)
        if not ended:
            os.waitpid(self.child, 0)
        self._restore()
        seconds = time.monotonic() - self.begun
        told = _told(self.place.folder)
        if not ended:
            ending: Ending = "too long"
        elif (code := os.waitstatus_to_exitcode(status)) == 0:
            ending = "alive"
        elif code == pytest.ExitCode.NO_TESTS_COLLECTED:
            ending = "no test"
        else:
            ending = "caught"
        return Outcome(ending=ending, by=told, seconds=seconds, tests=len(self.tests))

    def _restore(self) -> None:
        if self.change is not None:
            shutil.copy2(ROOT / self.change.module, self.place.folder / self.change.module)
        self.place.tidy()


def begin(place: Place, change: Change | None, tests: Sequence[Test], *, limit: float) -> Running:
    """Fork a process that runs the tests, without any change where there is None."""
    place.trials += 1
    _report(place.folder).unlink(missing_ok=True)
    if change is not None:
        target = place.folder / change.module
        source = ROOT / change.module
        target.write_text(change.applied(source.read_text(encoding="utf-8")), encoding="utf-8")
        # Python takes what it compiled before where size and second are the same.
        stamp = int(source.stat().st_mtime) + place.trials
        os.utime(target, (stamp, stamp))
    child = os.fork()
    if child == 0:
        _be_the_trial(place, change, tests)
    until = time.monotonic() + max(LEAST_SECONDS, limit)
    return Running(place=place, change=change, tests=tests, child=child, until=until)


def preload() -> None:
    """Import the product, and what tests need beside it."""
    import_product()
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            __import__(name)
    _functions.update(find_functions())
    gc.freeze()


def _is_put_in(change: Change) -> bool:
    text = (ROOT / change.module).read_text(encoding="utf-8")
    return change.before == change.after or put_in(change, text, _functions)


def _report(folder: Path) -> Path:
    return folder.parent / "failed"


def _told(folder: Path) -> str:
    report = _report(folder)
    return report.read_text(encoding="utf-8") if report.exists() else ""


def _be_the_trial(place: Place, change: Change | None, tests: Sequence[Test]) -> NoReturn:
    code = 70
    try:
        os.setsid()
        os.chdir(place.folder)
        output = os.open(place.folder.parent / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.path[:] = [str(place.folder), *(each for each in sys.path if each != str(ROOT))]
        gone = {"tests"} if change is None or _is_put_in(change) else {"tests", *PACKAGES}
        for name in [name for name in sys.modules if name.partition(".")[0] in gone]:
            del sys.modules[name]
        files = list(dict.fromkeys(file for file, _ in tests))
        arguments = [
            "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "--tb=line",
            "-W", "ignore::pytest.PytestAssertRewriteWarning",  # hypothesis was imported before
            *(["-x"] if change is not None else []),
        ]  # fmt: skip
        plugin = _Chosen(place, tests)
        code = int(pytest.main([*arguments, *files], plugins=[plugin]))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class _Chosen:
    """The plugin of a trial: only its tests, in their order, on the server of its place."""

    def __init__(self, place: Place, tests: Sequence[Test]) -> None:
        self._place = place
        self._rank = {f"{file}::{name}": number for number, (file, name) in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank),
            key=lambda item: self._rank[item.nodeid],
        )

    def pytest_collection_finish(self) -> None:
        addresses = self._place.addresses
        import tests.conftest

        tests.conftest.LocalServer = lambda _folder: _Lent(addresses)  # type: ignore[assignment, misc]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._tell(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell(report.nodeid)

    def _tell(self, test: str) -> None:
        with _report(self._place.folder).open("a", encoding="utf-8") as told:
            told.write(f"{test}\n")


class _Lent:
    """Of `LocalServer` what the fixtures of tests use."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def superuser_dsn(self) -> str:
        return self._addresses[0]

    def dsn(self) -> str:
        return self._addresses[1]

    def owner_dsn(self) -> str:
        return self._addresses[2]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a trial's server has no {name}: see tests/code_mutants/trial.py")

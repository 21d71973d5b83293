"""A forked process is the process that a start would have made."""

from __future__ import annotations

import json
import multiprocessing.forkserver
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.cli.oasflow_process import Oasflow
from tests.effort import LONG
from tests.warm_program import serve_oasflow

PATIENCE = 60


@pytest.fixture(autouse=True)
def _by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the long tests, where the others start every process."""
    monkeypatch.delenv(LONG, raising=False)


@pytest.fixture
def forked() -> Iterator[Callable[..., Any]]:
    made: list[warm.WarmProcess] = []

    def fork(target: Callable[[], Any], *arguments: str, **env: str) -> warm.WarmProcess:
        name = f"{__name__}:{target.__name__}"
        made.append(warm.warm(name, ["program", *arguments], {**os.environ, **env}))
        return made[-1]

    yield fork
    for process in made:
        process.close()


def tells() -> None:
    """What a process sees of itself."""
    heavy = [name for name in ("langgraph", "psycopg", "readline") if name in sys.modules]
    print(json.dumps([sys.argv, os.environ["WORD"], str(Path.cwd()), sys.stdin.read(), heavy]))
    print([stream.isatty() for stream in (sys.stdin, sys.stdout)], file=sys.stderr)


def leaves() -> None:
    given = sys.argv[1]
    sys.exit(int(given) if given.isdigit() else given or None)


def breaks() -> None:
    raise LookupError("broken")


def sleeps() -> None:
    print("ready", flush=True)
    time.sleep(PATIENCE)


def test_it_has_its_own_arguments_variables_folder_and_streams(
    forked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    process = forked(tells, "grün", WORD="x")
    out, err = process.communicate("typed", timeout=PATIENCE)
    heavy = ["langgraph", "psycopg"]  # readline asks for the kind of terminal when it is imported
    assert json.loads(out) == [["program", "grün"], "x", str(tmp_path), "typed", heavy]
    assert (process.returncode, err) == (0, "[False, False]\n")
    assert process.pid not in (0, os.getpid())


def test_what_carries_a_process_out_imports_no_pytest() -> None:
    """It took most of the time of every process of the tests."""
    code = "import sys, tests.warm; print('pytest' in sys.modules, tests.warm.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=warm.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False tests.warm\n"
    # The server has it when it forks.
    assert "tests.warm" in multiprocessing.forkserver._forkserver._preload_modules  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "code", "said"), [("", 0, ""), ("7", 7, ""), ("no disk", 1, "no disk\n")]
)
def test_it_ends_with_its_own_code(forked: Any, given: str, code: int, said: str) -> None:
    process = forked(leaves, given)
    assert process.communicate(timeout=PATIENCE) == ("", said)
    assert (process.poll(), process.wait()) == (code, code)


def test_an_exception_is_told_and_ends_it(forked: Any) -> None:
    process = forked(breaks)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err.splitlines()[-1]) == (1, "LookupError: broken")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 1)])
def test_a_signal_reaches_it(forked: Any, sent: int, code: int) -> None:
    process = forked(sleeps)
    assert process.stdout.readline() == "ready\n"
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(sent)
    assert process.wait(PATIENCE) == code


@pytest.mark.parametrize("arguments", [["--help"], ["check", "nowhere.json"], ["rule", "OAS010"]])
def test_a_command_says_what_the_started_program_says(arguments: list[str]) -> None:
    program = [str(Path(sys.executable).with_name("oasflow"))]
    said = []
    for how in (warm.begin, warm.start):
        process = how("oas_compiler.cli:main", program, arguments, os.environ)
        said.append((*process.communicate("", timeout=PATIENCE), process.returncode))
    assert isinstance(process, subprocess.Popen)
    assert said[0] == said[1]


def test_a_shell_is_answered_as_by_the_started_program(tmp_path: Path) -> None:
    installed = Path(sys.executable).with_name("oasflow")
    said = []
    with serve_oasflow(tmp_path) as forked:
        for program in (forked, installed):
            script = f'cd /; "{program}" check nowhere.json; echo "$?"; "{program}" gates --help | head -2'
            done = subprocess.run(
                ["bash", "-c", script], capture_output=True, text=True, check=True
            )
            said.append((done.stdout, done.stderr))
    assert said[0] == said[1]
    assert "2\n" in said[0][0]
    assert "nowhere.json" in said[0][0] + said[0][1]


def test_a_process_that_hangs_says_where_it_stands(forked: Any) -> None:
    process = forked(sleeps, PYTHONFAULTHANDLER="1")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGABRT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGABRT
    assert "in sleeps" in err


def test_the_processes_of_the_command_line_are_forked() -> None:
    """Each took more than a second of processor time when a variable of theirs kept them from it."""
    oasflow = Oasflow(Path(sys.executable).with_name("oasflow"), dict(os.environ))
    assert oasflow("rule", "OAS010").code == 0
    anew = replace(oasflow, starts=True)
    assert anew("rule", "OAS010").code == 0
    forked, started = oasflow.begun
    assert isinstance(forked, warm.WarmProcess)
    assert isinstance(started, subprocess.Popen)
    oasflow.close()


def test_what_is_read_at_the_start_and_the_long_tests_need_a_new_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = dict(os.environ)
    assert warm.may_be_warm({**here, "NO_COLOR": "1"})
    assert warm.may_be_warm({**here, "PYTHONFAULTHANDLER": "1"})
    assert not warm.may_be_warm({**here, "PYTHONIOENCODING": "ascii"})
    assert not warm.may_be_warm({**here, "LC_ALL": "C"})
    monkeypatch.setenv(LONG, "1")
    assert not warm.may_be_warm(here)

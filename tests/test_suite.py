"""The suite itself: it ends, however it was started."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import LONGEST

ROOT = Path(__file__).resolve().parents[1]


def pytest_run(*arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """A run of pytest in this checkout, without a terminal; `before` is told to the shell first."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        ["sh", "-c", f'{before}\nexec "$@"', "sh", *command], cwd=ROOT, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip


def test_the_files_that_are_begun_first_are_there() -> None:
    files = {file.name for file in (ROOT / "tests").rglob("test_*.py")}
    assert [name for name in LONGEST if name not in files] == []


def test_every_test_has_a_limit() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    assert options["faulthandler_exit_on_timeout"] is True
    assert options["faulthandler_timeout"] > 0


def test_a_test_that_hangs_ends_with_the_place_where_it_stood(tmp_path: Path) -> None:
    file = tmp_path / "test_hanging.py"
    file.write_text("import threading\n\n\ndef test_it():\n    threading.Event().wait()\n")
    done = pytest_run(str(file), "-o", "faulthandler_timeout=1", "-c", str(ROOT / "pyproject.toml"))
    assert done.returncode == 1
    assert f'"{file}", line 5 in test_it' in done.stderr


def test_tests_of_interrupts_pass_where_they_are_ignored_and_there_is_no_terminal() -> None:
    chosen = "tests/cli/test_cli_interrupts.py"
    done = pytest_run(chosen, "-m", "not long", before="trap '' INT")
    assert done.returncode == 0, done.stdout


def test_nothing_that_is_kept_is_a_link() -> None:
    """A link leads out of the checkout on another machine, or replaces what a script made there."""
    done = subprocess.run(
        ["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("this is no checkout of git")
    assert [line for line in done.stdout.splitlines() if line.startswith("120000")] == []
